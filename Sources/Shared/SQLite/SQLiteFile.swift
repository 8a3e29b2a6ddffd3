internal import CSQLite
internal import Glibc
internal import Loop

/// One connection to one database file. Not `Sendable`: an actor owns it whose executor is a `BlockingThread`.
package final class SQLiteFile {
  private let connection: SQLiteConnection

  /// Opens the file, making it (mode 0600) unless `readOnly`. WAL, and `synchronous=FULL`: what was committed survives a
  /// loss of power. A lock of another process is waited for at most `busyMilliseconds`.
  ///
  /// Those who write take turns by a file beside it, `<path>-turn`, whose content means nothing. One that is held up while it
  /// is next is waited for at most `courtesyMilliseconds`.
  package init(
    path: String, readOnly: Bool = false, busyMilliseconds: Int = 5000, courtesyMilliseconds: Int = 20
  ) throws(SQLiteFailure) {
    if !readOnly { try Self.create(path) }
    var raw: OpaquePointer?
    // One thread at a time uses the connection: no mutex.
    let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE)
    let status = sqlite3_open_v2(path, &raw, flags, nil)
    // Even a failed attempt leaves a connection that wants to be closed.
    guard let raw else { throw .cannotOpen("out of memory") }
    let turn = readOnly ? nil : TurnFile(path: path + "-turn")
    connection = SQLiteConnection(
      raw, busyMilliseconds: busyMilliseconds, turn: turn, courtesyMilliseconds: courtesyMilliseconds)
    guard status == SQLITE_OK else { throw Self.naming(path, connection.failure) }
    // SQLite falls back to reading when it may not write.
    if !readOnly, sqlite3_db_readonly(raw, "main") == 1 { throw .readOnly }
    do throws(SQLiteFailure) {
      if !readOnly { try logAhead(busyMilliseconds) }
      // Foreign keys are off: the stores delete what belongs together by themselves, in chunks.
      // The log of changes shrinks to 16 MiB after a burst; the cache takes up to 16 MiB.
      try connection.script(
        """
        PRAGMA synchronous=FULL; PRAGMA foreign_keys=OFF; PRAGMA journal_size_limit=16777216;
        PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;
        SELECT count(*) FROM sqlite_schema;
        """)
    } catch {
      throw Self.naming(path, error)
    }
  }

  /// Runs one statement, compiled once and kept. `values` are its parameters in order.
  @discardableResult
  package func run(_ sql: StaticString, _ values: [SQLiteValue] = []) throws(SQLiteFailure) -> [SQLiteRow] {
    var rows: [SQLiteRow] = []
    let statement = try connection.statement(sql)
    defer { reset(statement) }
    try connection.bind(values, to: statement)
    let columns = Int(sqlite3_column_count(statement))
    while try step(statement) { rows.append(SQLiteStep(statement, columns: columns).row) }
    return rows
  }

  /// The same, with each row lent to `body` instead of kept. `body` must not run the same statement.
  package func run(
    _ sql: StaticString, _ values: [SQLiteValue] = [], eachRow body: (borrowing SQLiteStep) throws -> Void
  ) throws {
    let statement = try connection.statement(sql)
    defer { reset(statement) }
    try connection.bind(values, to: statement)
    let columns = Int(sqlite3_column_count(statement))
    while try step(statement) { try body(SQLiteStep(statement, columns: columns)) }
  }

  /// Runs several statements without parameters.
  package func script(_ sql: String) throws(SQLiteFailure) { try connection.script(sql) }

  /// Runs `body` in one write transaction, begun at once so that it cannot lose a race later.
  /// Committed when `body` returns, rolled back when it throws. Not to be nested.
  @discardableResult
  package func transaction<T>(_ body: () throws -> T) throws -> T {
    try connection.begin { () throws(SQLiteFailure) in try run("BEGIN IMMEDIATE") }
    defer { connection.pass() }
    do {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // Some failures, a full disk among them, have rolled it back already.
      if sqlite3_get_autocommit(connection.raw) == 0 { _ = try? run("ROLLBACK") }
      throw error
    }
  }

  /// Rows that the last INSERT, UPDATE or DELETE touched.
  package var changes: Int { Int(sqlite3_changes64(connection.raw)) }

  private func step(_ statement: OpaquePointer) throws(SQLiteFailure) -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw connection.failure
    }
  }

  private func reset(_ statement: OpaquePointer) {
    sqlite3_reset(statement)
    // What was bound is not kept in memory beyond its use.
    sqlite3_clear_bindings(statement)
  }

  /// Makes the file for its owner alone: SQLite would make it readable for all, and gives its log the file's own mode.
  ///
  /// Without opening it: closing a descriptor lets go of every lock that the process holds on the file, those of an older
  /// connection included.
  private static func create(_ path: String) throws(SQLiteFailure) {
    if mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST { return }
    switch errno {
    case EACCES, EROFS, EPERM: throw .readOnly
    case ENOSPC, EDQUOT: throw .full
    case let reason: throw .cannotOpen("\(path): \(String(cString: strerror(reason)))")
    }
  }

  /// Two that turn the log on at the same time collide without either's waiting for the other, so it is tried again.
  private func logAhead(_ busyMilliseconds: Int) throws(SQLiteFailure) {
    var patience = max(0, busyMilliseconds)
    while true {
      do throws(SQLiteFailure) {
        return try connection.script("PRAGMA journal_mode=WAL")
      } catch {
        guard error == .busy, patience > 0 else { throw error }
        patience -= 10
        usleep(10_000)
      }
    }
  }

  private static func naming(_ path: String, _ failure: SQLiteFailure) -> SQLiteFailure {
    switch failure {
    case .cannotOpen(let message): .cannotOpen("\(path): \(message) (its folder must be writable too)")
    case .corrupt(let message): .corrupt("\(path): \(message)")
    case .other(let code, let message): .other(code: code, message: "\(path): \(message)")
    default: failure
    }
  }
}
