package import Loop

/// What the worker counts (rulings 9). `provider` is `apns` or `fcm`.
@LoopActor
package struct WorkerMetrics {
  /// `provider`, `outcome`: each delivery once, when its last state is reached.
  package let deliveries: CounterFamily
  /// `provider`, `reason`: each answer, or lack of one, of a provider.
  package let attempts: CounterFamily
  /// `provider`; seconds from admission's commit to the provider's acceptance.
  package let deliverySeconds: HistogramFamily
  /// `provider`; seconds from a request to its answer.
  package let providerRequestSeconds: HistogramFamily
  /// `provider`.
  package let inFlight: GaugeFamily
  package let queueDepth: Gauge
  package let queueOldestDueSeconds: Gauge
  /// `provider`, `environment`; FCM has but one environment, `production`.
  package let laneParked: GaugeFamily
  /// `provider`.
  package let invalidationPaused: GaugeFamily
  package let leasesLost: Counter
  /// `provider`.
  package let providerConnections: GaugeFamily

  private let metrics: Metrics
  private static let provider = MetricLabel("provider", ["apns", "fcm"])

  /// - Parameter reasons: what `attempts` tells apart; anything else is `other`.
  package init(_ metrics: Metrics, reasons: [String] = AttemptReasons.all) {
    self.metrics = metrics
    let provider = Self.provider
    deliveries = metrics.counter(
      "orca_push_deliveries_total", "Deliveries by the last state that they reached.", provider,
      MetricLabel("outcome", ["sent", "dead", "failed", "expired", "cancelled"]))
    attempts = metrics.counter(
      "orca_push_attempts_total", "Requests to a provider by what came of them.", provider,
      MetricLabel("reason", reasons))
    deliverySeconds = metrics.histogram(
      "orca_push_delivery_seconds", "Seconds from admission's commit to the provider's acceptance.", provider,
      bounds: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300])
    providerRequestSeconds = metrics.histogram(
      "orca_push_provider_request_seconds", "Seconds from a request to the provider's answer.", provider,
      bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
    inFlight = metrics.gauge("orca_push_in_flight", "Requests that await a provider's answer.", provider)
    queueDepth = metrics.gauge("orca_push_queue_depth", "Deliveries that have not reached their last state.").at()
    queueOldestDueSeconds =
      metrics.gauge(
        "orca_push_queue_oldest_due_seconds", "Seconds for which the longest waiting due delivery has been due."
      ).at()
    laneParked = metrics.gauge(
      "orca_push_lane_parked", "1 while a lane waits for its credential to be mended.", provider,
      MetricLabel("environment", ["production", "sandbox"]))
    invalidationPaused = metrics.gauge(
      "orca_push_invalidation_paused", "1 while too many tokens would be marked dead to believe it.", provider)
    leasesLost =
      metrics.counter("orca_push_leases_lost_total", "Outcomes that came after their lease was lost.").at()
    providerConnections = metrics.gauge(
      "orca_push_provider_connections", "Open connections to a provider.", provider)
  }

  /// Shows `orca_push_credential_age_seconds{provider}`; `age` gives seconds since the token in use was made or
  /// fetched, nil while there is none.
  package func showCredentialAge(_ age: @escaping @LoopActor (_ provider: String) -> Double?) {
    metrics.sampledGauge(
      "orca_push_credential_age_seconds", "Age of the token that is shown to a provider.", Self.provider
    ) { ["apns", "fcm"].compactMap { provider in age(provider).map { ([provider], $0) } } }
  }
}

/// The values of `orca_push_attempts_total{reason}`: `accepted`, the providers' own reasons, and what can go wrong
/// before there is an answer.
package enum AttemptReasons {
  package static let all = ["accepted"] + apns + fcm + transport + ["unknown"]

  /// Apple's reasons.
  package static let apns = [
    "BadCertificate", "BadCertificateEnvironment", "BadCollapseId", "BadDeviceToken", "BadEnvironmentKeyIdInToken",
    "BadExpirationDate", "BadMessageId", "BadPath", "BadPriority", "BadTopic", "DeviceTokenNotForTopic",
    "DuplicateHeaders", "ExpiredProviderToken", "ExpiredToken", "Forbidden", "IdleTimeout", "InternalServerError",
    "InvalidProviderToken", "InvalidPushType", "MethodNotAllowed", "MissingDeviceToken", "MissingProviderToken",
    "MissingTopic", "PayloadEmpty", "PayloadTooLarge", "ServiceUnavailable", "Shutdown", "TooManyProviderTokenUpdates",
    "TooManyRequests", "TopicDisallowed", "Unregistered", "UnrelatedKeyIdInToken",
  ]

  /// Google's error codes and statuses.
  package static let fcm = [
    "INTERNAL", "INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED",
    "SENDER_ID_MISMATCH", "THIRD_PARTY_AUTH_ERROR", "UNAUTHENTICATED", "UNAVAILABLE", "UNREGISTERED",
    "UNSPECIFIED_ERROR",
  ]

  /// No answer, or none that can be read.
  package static let transport = [
    "connect_failed", "connection_lost", "credential_unavailable", "dns", "goaway", "refused_stream", "reset",
    "timeout",
    "tls", "unreadable",
  ]
}
