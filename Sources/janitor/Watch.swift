internal import Loop
internal import Operations
internal import Stores

/// Sweeps every minute until told to stop: for a single machine without a scheduler.
@LoopActor
struct Watch {
  /// ms.
  static let pause = 60_000

  private let service: Service
  private let configuration: JanitorConfiguration
  private let database: OpenStore

  init(_ service: Service, _ configuration: JanitorConfiguration, _ database: OpenStore) {
    self.service = service
    self.configuration = configuration
    self.database = database
  }

  func run() async throws(ProgramFailure) {
    let registry = Metrics()
    ProcessMetrics.show(in: registry, build: service.build, log: service.log)
    let metrics = JanitorMetrics(registry, tables: Sweep.tables)
    // So that a first sweep which never ends is overdue too.
    metrics.lastSweep.set(Double(WallClock.milliseconds) / 1_000)
    let sweep = Sweep(database.store, service.log, metrics: metrics)
    let door = MetricsEndpoint(MetricsRoutes(registry, mode: configuration.mode))
    if let port = configuration.metricsPort { try door.listen(port: port) }
    defer { door.stop() }
    guard try await database.awaitSchema(service) else { return }
    service.log.notice("ready")
    let rounds = EventLoop.shared.start { [service] in
      while !service.isDraining {
        do {
          try await sweep.run { service.isDraining }
          metrics.lastSweep.set(Double(WallClock.milliseconds) / 1_000)
        } catch {
          service.log.warning("sweep failed", ["reason": .text("\(error)")])
        }
        try? await EventLoop.shared.sleep(milliseconds: Self.pause)
      }
    }
    await service.terminated()
    rounds.cancel()
    await rounds.value
  }
}
