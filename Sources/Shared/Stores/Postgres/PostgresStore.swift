internal import Contract
package import Loop
package import Postgres

/// The store on Postgres. Each call is one autocommit statement, most of them a function of the schema, so that a pooler in
/// transaction mode may stand between.
@LoopActor
package final class PostgresStore: Store {
  package let pool: PostgresPool
  private let log: @Sendable (String) -> Void
  /// Whether the server had no room for the last statement that needed some.
  var isFull = false {
    didSet { if isFull != oldValue { log(isFull ? StoreFailure.isFullNow : StoreFailure.hasRoomAgain) } }
  }

  /// Opens nothing yet.
  /// - Parameters:
  ///   - maximum: connections at most.
  ///   - log: gets single lines without values.
  package init(
    url: PostgresUrl, maximum: Int, applicationName: String = "push-gateway", limits: PostgresLimits = .init(),
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.log = log
    pool = PostgresPool(url, maximum: maximum, applicationName: applicationName, limits: limits, log: log)
  }

  /// Lets statements in flight finish and closes the connections.
  package func close() async { await pool.close() }

  /// Runs one statement and reads its rows, with failures as the stores' callers know them.
  func run<T>(
    _ statement: PostgresStatement, _ values: [PostgresValue] = [], _ read: (PostgresRows) throws(PostgresFailure) -> T
  ) async throws(StoreFailure) -> T {
    do { return try read(try await pool.run(statement, values)) } catch {
      let failure = StoreFailure(error)
      if failure == .unavailable(StoreFailure.diskFull) { isFull = true }
      throw failure
    }
  }
}

extension StoreFailure {
  init(_ failure: PostgresFailure) {
    switch failure {
    case .unreachable(let why): self = .unavailable(why)
    case .overloaded: self = .unavailable("too many statements wait for the database")
    case .closed: self = .unavailable("the database connections are closed")
    case .timedOut: self = .unknown("the database did not answer in time")
    case .database("53100", _): self = .unavailable(Self.diskFull)
    // A standby, or a server that was set so.
    case .database("25006", _): self = .unavailable(Self.readOnly)
    case .database(let state, _):
      // Class 08, 53, 57, 58: connection, resources, operator, system. 40: the transaction was undone.
      let isPassing = ["08", "53", "57", "58", "40"].contains { state.hasPrefix($0) }
      // The server's message may quote values: the code alone goes on.
      self = isPassing ? .unavailable("the database answered \(state)") : .refused("SQL state \(state)")
    }
  }
}
