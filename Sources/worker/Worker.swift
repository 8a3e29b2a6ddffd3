internal import Loop
internal import Operations
internal import Stores

/// The mail room: claims what is due, sends it to Apple and Google, records what became of it.
@main
enum Worker {
  static let usage = """
    usage: worker             deliver until told to stop
           worker probe-fcm   ask Google to check a push and to deliver nothing, once
    """

  static func main() {
    Service.run("worker", usage: usage) { service in
      let arguments = Array(CommandLine.arguments.dropFirst())
      if let word = arguments.first(where: { $0 != "probe-fcm" }) ?? arguments.dropFirst().first {
        throw ProgramFailure.unknown(word, usage)
      }
      let configuration = try WorkerConfiguration(environment: service.environment)
      if !arguments.isEmpty { return try await ProbeFcm(configuration, service.log).run() }
      let metrics = Metrics()
      ProcessMetrics.show(in: metrics, build: service.build, log: service.log)
      if configuration.mode == .validation {
        try await validate(service, configuration, metrics)
      } else {
        try await deliver(service, configuration, metrics)
      }
    }
  }

  /// Claims and sends until told to stop.
  @LoopActor
  private static func deliver(
    _ service: Service, _ configuration: WorkerConfiguration, _ metrics: Metrics
  ) async throws {
    let reading = try CredentialReading(configuration)
    let senders = Senders(reading, service.log)
    CredentialAdvice(configuration).tell(service.log)
    let queue = try await OpenStore(configuration.database, program: "worker", log: service.log)
    ProcessMetrics.showDatabaseConnections(in: metrics) { queue.connections }
    let floor = LaneFloor(configuration, senders, queue, metrics, service.log)
    let door = MetricsEndpoint(MetricsRoutes(metrics, mode: .active) { await floor.ready() })
    var summary = floor.summary.merging(queue.place) { $1 }
    if let port = configuration.metricsPort { summary["metricsPort"] = .integer(Int64(try door.listen(port: port))) }
    if try await queue.awaitSchema(service) {
      floor.start()
      let watch = CredentialWatch(service.environment, reading, senders, service.log) { floor.probe($0) }
      service.reloaded = { watch.reload() }
      watch.start()
      service.log.notice("ready", summary)
      await service.terminated()
      watch.stop()
    }
    await floor.drain(milliseconds: service.remaining)
    await queue.close()
    door.stop()
  }

  /// Serves `/health` and `/ready` alone: no lane runs and nothing is written (rulings 8).
  @LoopActor
  private static func validate(
    _ service: Service, _ configuration: WorkerConfiguration, _ metrics: Metrics
  ) async throws {
    let door = MetricsEndpoint(MetricsRoutes(metrics, mode: .validation) { WorkerReadiness.validation })
    if let port = configuration.metricsPort { try door.listen(port: port) }
    service.log.notice("ready", ["mode": "validation"])
    await service.terminated()
    door.stop()
  }
}
