package import Loop

/// A few connections shared by all callers of the process, each carrying several statements at a time.
@LoopActor
package final class PostgresPool {
  /// Opens nothing yet. `log` gets single lines without values: connections lost and regained.
  package init(
    _ url: PostgresUrl, maximum: Int, applicationName: String, limits: PostgresLimits = .init(),
    log: @escaping @LoopActor (String) -> Void
  ) {}

  /// Runs one statement in a transaction of its own: one round trip, answered within `limits.statementMilliseconds`.
  package func run(
    _ statement: PostgresStatement, _ values: [PostgresValue] = []
  ) async throws(PostgresFailure) -> PostgresRows { throw .closed }

  /// Runs several statements on a connection of its own, as one transaction unless they say BEGIN and COMMIT themselves.
  package func script(_ sql: String) async throws(PostgresFailure) { throw .closed }

  /// Connections that are up.
  package var openConnections: Int { 0 }
  /// Connections with a statement in flight.
  package var busyConnections: Int { 0 }
  /// Statements that wait for a place on a connection.
  package var waiting: Int { 0 }

  /// Takes no more statements, lets those in flight finish, and closes the connections.
  package func close() async {}
}
