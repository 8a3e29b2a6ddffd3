internal import Http
internal import Loop
internal import Operations

/// The front door of the gateway: takes what hosts ask over HTTP and keeps it in the database.
@main
enum Api {
  static let usage = """
    usage: api   serve until told to stop; set by the environment, of which README.md has the table
    """

  static func main() {
    Service.run("api", usage: usage) { service in
      if let word = CommandLine.arguments.dropFirst().first { throw ProgramFailure.unknown(word, usage) }
      try await serve(service)
    }
  }

  /// From configuration to drain, in that order.
  @LoopActor
  private static func serve(_ service: Service) async throws {
    let configuration = try ApiConfiguration(environment: service.environment)
    let database = try await Database(configuration.database, mode: configuration.mode, log: service.log)
    try await database.begin()

    let metrics = Metrics()
    ProcessMetrics.show(in: metrics, build: service.build, log: service.log)
    if database.connections != nil {
      ProcessMetrics.showDatabaseConnections(in: metrics) { database.connections ?? (0, 0, 0) }
    }
    let door = FrontDoor(configuration, database: database, metrics: ApiMetrics(metrics), log: service.log) {
      service.isDraining
    }
    let server = HttpServer { request, _ in await door.answer(request) }
    let port = try server.listen(port: configuration.port, variable: "PORT")
    let operators = try show(metrics, door, configuration)
    var fields: [String: LogField] = [
      "port": .integer(port), "mode": .text(configuration.mode.rawValue), "database": .text(database.name),
    ]
    if let file = database.file { fields["file"] = .text(file) }
    if let server = database.server { fields["server"] = .text(server) }
    if let operators { fields["metricsPort"] = .integer(operators.port) }
    service.log.notice("serving", fields)

    await service.terminated()
    server.drain()
    await server.waitUntilIdle(milliseconds: service.remaining)
    door.flushLog()
    await database.close()
    operators?.endpoint.stop()
  }

  /// Serves the metrics where the configuration says, if it does.
  @LoopActor
  private static func show(
    _ metrics: Metrics, _ door: FrontDoor, _ configuration: ApiConfiguration
  ) throws(ProgramFailure) -> (endpoint: MetricsEndpoint, port: Int)? {
    guard let port = configuration.metricsPort else { return nil }
    let endpoint = MetricsEndpoint(
      MetricsRoutes(metrics, mode: configuration.mode) { await door.ready.reply() })
    return (endpoint, try endpoint.listen(port: port))
  }
}
