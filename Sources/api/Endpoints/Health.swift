internal import Http
internal import Loop
internal import Operations

/// `GET /health`: the process lives. Asks nobody anything (rulings 2.5).
@LoopActor
struct HealthEndpoint {
  let mode: GatewayMode

  func get() -> HttpResponse { MetricsRoutes.health(mode) }
}
