internal import Contract
internal import Loop
internal import Operations
internal import Providers
internal import Stores

/// The mail room: claims what is due, sends it to Apple and Google, records what became of it.
@main
enum Worker {
  static func main() {
    Service.run("worker") { service in
      let configuration = try WorkerConfiguration(environment: service.environment)
      try await run(service, configuration)
    }
  }

  @LoopActor
  private static func run(_ service: Service, _ configuration: WorkerConfiguration) async throws {
    let metrics = Metrics()
    ProcessMetrics.show(in: metrics, build: service.build, log: service.log)
    let readiness = WorkerReadiness(mode: configuration.mode)
    let operations = try OperationsDoor(metrics, readiness, port: configuration.metricsPort, log: service.log)
    guard configuration.mode == .active else {
      service.log.notice("validation mode: no lane runs, nothing is written")
      await service.terminated()
      return operations.close()
    }
    let queue = try await OpenQueue(configuration.database, service)
    let floor = LaneFloor(configuration, queue, WorkerMetrics(metrics), service, readiness)
    floor.start()
    service.log.notice("ready", floor.summary)
    await service.terminated()
    await floor.drain(milliseconds: service.remaining)
    await queue.close()
    operations.close()
  }
}
