package import Loop

/// What the api counts (rulings 9).
@LoopActor
package struct ApiMetrics {
  /// `route`, `status`.
  package let requests: CounterFamily
  /// `route`; seconds from the request's last byte to its reply.
  package let requestSeconds: HistogramFamily
  /// `kind`, `result`: one for each registration's result.
  package let sends: CounterFamily
  /// How many sends one commit took.
  package let admissionBatchSize: Histogram

  /// The routes by their patterns; everything else is `other`.
  package static let routes = [
    "/health", "/ready", "/v1/host/challenge", "/v1/host/session", "/v1/devices", "/v1/devices/:registrationId",
    "/v1/send", "/v1/deliveries",
  ]

  package init(_ metrics: Metrics) {
    let route = MetricLabel("route", Self.routes)
    let statuses = [200, 204, 400, 401, 404, 405, 408, 409, 413, 417, 429, 431, 500, 501, 503, 505]
    requests = metrics.counter(
      "orca_push_http_requests_total", "HTTP requests by route and status of the reply.", route,
      MetricLabel("status", statuses.map(String.init)))
    requestSeconds = metrics.histogram(
      "orca_push_http_request_seconds", "Seconds from a request's last byte to its reply.", route,
      bounds: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5])
    sends = metrics.counter(
      "orca_push_sends_total", "Results of sends, one for each registration.",
      MetricLabel("kind", ["alert", "dismiss"]), MetricLabel("result", ["queued", "dead", "rate_limited", "error"]))
    admissionBatchSize =
      metrics.histogram(
        "orca_push_admission_batch_size", "Sends that one commit took.", bounds: [1, 2, 4, 8, 16, 32, 64, 128]
      ).at()
  }
}
