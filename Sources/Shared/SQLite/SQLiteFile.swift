/// One connection to one database file. Not `Sendable`: an actor owns it whose executor is a `BlockingThread`.
package final class SQLiteFile {
  /// Opens the file, making it (mode 0600) unless `readOnly`. WAL, `synchronous=FULL`.
  /// A lock of another process is waited for at most `busyMilliseconds`.
  package init(path: String, readOnly: Bool = false, busyMilliseconds: Int = 5000) throws(SQLiteFailure) {
    throw .busy
  }

  /// Runs one statement, compiled once and kept. `values` are its parameters in order.
  @discardableResult
  package func run(_ sql: StaticString, _ values: [SQLiteValue] = []) throws(SQLiteFailure) -> [SQLiteRow] { [] }

  /// The same, with each row lent to `body` instead of kept. `body` must not run the same statement.
  package func run(
    _ sql: StaticString, _ values: [SQLiteValue] = [], eachRow body: (borrowing SQLiteStep) throws -> Void
  ) throws {}

  /// Runs several statements without parameters.
  package func script(_ sql: String) throws(SQLiteFailure) {}

  /// Runs `body` in one write transaction, begun at once so that it cannot lose a race later.
  /// Committed when `body` returns, rolled back when it throws. Not to be nested.
  package func transaction<T>(_ body: () throws -> T) throws -> T { try body() }

  /// Rows that the last INSERT, UPDATE or DELETE touched.
  package var changes: Int { 0 }
}
