package import Http
package import Loop

/// Serves a program's metrics to operators, on a port of its own.
@LoopActor
package final class MetricsEndpoint {
  private let server: HttpServer

  package init(_ routes: MetricsRoutes) {
    var limits = HttpServerLimits()
    // A few scrapers, never a crowd: the public port's descriptors are not spent here.
    limits.connections = 32
    server = HttpServer(limits: limits) { request, _ in await routes.answer(request) }
  }

  /// Listens on every address; the port that was bound, which matters when `port` is 0.
  @discardableResult
  package func listen(port: Int) throws(ProgramFailure) -> Int {
    try server.listen(port: port, variable: "ORCA_PUSH_METRICS_PORT")
  }

  /// Closes everything at once: to be called last, so that a drain can be watched.
  package func stop() { server.stop() }
}

extension HttpServer {
  /// Listens on every address, IPv4 and IPv6; a port that cannot be had ends the program.
  ///
  /// - Parameter variable: where the port comes from, for the one who has to mend it.
  package func listen(port: Int, variable: String) throws(ProgramFailure) -> Int {
    do throws(ListenFailure) {
      return try listen(address: "*", port: port)
    } catch {
      throw ProgramFailure(.unavailable, "\(variable): cannot listen on port \(port): \(error)")
    }
  }
}
