package import Http
package import Loop

/// What is answered on the port for operators: `/metrics`, `/health`, and `/ready` where the program has an answer.
@LoopActor
package struct MetricsRoutes {
  private let metrics: Metrics
  private let mode: GatewayMode
  private let ready: (@LoopActor () async -> HttpResponse)?

  package init(_ metrics: Metrics, mode: GatewayMode, ready: (@LoopActor () async -> HttpResponse)? = nil) {
    self.metrics = metrics
    self.mode = mode
    self.ready = ready
  }

  package func answer(_ request: HttpRequest) async -> HttpResponse {
    guard ["/metrics", "/health"].contains(request.path) || (request.path == "/ready" && ready != nil) else {
      return Self.json(404, #"{"error":"not_found"}"#)
    }
    guard ["GET", "HEAD"].contains(request.method) else {
      var refusal = Self.json(405, #"{"error":"method_not_allowed"}"#)
      refusal.headers.add("allow", "GET, HEAD")
      return refusal
    }
    switch request.path {
    case "/metrics":
      return HttpResponse(
        status: 200, headers: ["content-type": Exposition.contentType, "cache-control": "no-store"],
        body: Array(metrics.exposition().utf8))
    case "/ready":
      return await ready?() ?? Self.json(200, #"{"ok":true}"#)
    default:
      return Self.health(mode)
    }
  }

  /// The answer to `GET /health`, which touches nothing (rulings 8).
  package static func health(_ mode: GatewayMode) -> HttpResponse {
    json(200, #"{"ok":true,"pushProtocol":1,"deliveryProtocol":2,"mode":"\#(mode.rawValue)"}"#)
  }

  private static func json(_ status: Int, _ text: String) -> HttpResponse {
    HttpResponse(
      status: status,
      headers: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
      body: Array(text.utf8))
  }
}
