internal import CSQLite
internal import Loop

/// Owns one connection of SQLite and the statements compiled on it.
final class SQLiteConnection {
  private struct Key: Hashable {
    let start: UnsafePointer<UInt8>
    let length: Int
  }

  /// Pages in the log from which on they are moved into the file, as SQLite has it by itself.
  private static let longLog = 1_000

  let raw: OpaquePointer
  private let patience: SQLitePatience
  private let turn: TurnFile?
  private let courtesy: Int
  private var statements: [Key: OpaquePointer] = [:]

  /// Takes the connection over, which waits for others' locks for so long at most.
  ///
  /// - Parameters:
  ///   - turn: by which the processes that write the file take turns; nil for one that reads.
  ///   - courtesyMilliseconds: for how long it lets others go first at most.
  init(_ raw: OpaquePointer, busyMilliseconds: Int, turn: TurnFile?, courtesyMilliseconds: Int) {
    self.raw = raw
    self.turn = turn
    courtesy = courtesyMilliseconds
    patience = SQLitePatience(milliseconds: busyMilliseconds, turn: turn)
    patience.govern(raw)
    if turn != nil { passBeforeCheckpoint() }
  }
  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(raw)
  }

  /// SQLite's last complaint.
  var failure: SQLiteFailure {
    SQLiteFailure(code: sqlite3_extended_errcode(raw), message: String(cString: sqlite3_errmsg(raw)))
  }

  /// The compiled statement, kept by the address of its text, of which a program has a fixed number.
  func statement(_ sql: StaticString) throws(SQLiteFailure) -> OpaquePointer {
    let key = Key(start: sql.utf8Start, length: sql.utf8CodeUnitCount)
    if let statement = statements[key] { return statement }
    var statement: OpaquePointer?
    let text = UnsafeRawPointer(key.start).assumingMemoryBound(to: CChar.self)
    let status = sqlite3_prepare_v3(
      raw, text, Int32(key.length), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard status == SQLITE_OK else { throw failure }
    guard let statement else { throw .other(code: SQLITE_MISUSE, message: "the statement is empty") }
    statements[key] = statement
    return statement
  }

  func bind(_ values: [SQLiteValue], to statement: OpaquePointer) throws(SQLiteFailure) {
    guard values.count == Int(sqlite3_bind_parameter_count(statement)) else {
      throw .other(code: SQLITE_RANGE, message: "\(values.count) values for \(sqlite3_bind_parameter_count(statement))")
    }
    for (place, value) in values.enumerated() {
      let place = Int32(place + 1)
      let status =
        switch value {
        case .null: sqlite3_bind_null(statement, place)
        case .integer(let value): sqlite3_bind_int64(statement, place, value)
        case .text(let value):
          value.utf8.count <= Int32.max ? sq_bind_text(statement, place, value, Int32(value.utf8.count)) : SQLITE_TOOBIG
        case .blob(let value) where value.isEmpty: sqlite3_bind_zeroblob(statement, place, 0)
        case .blob(let value):
          value.count <= Int32.max ? sq_bind_blob(statement, place, value, Int32(value.count)) : SQLITE_TOOBIG
        }
      guard status == SQLITE_OK else { throw failure }
    }
  }

  func script(_ sql: String) throws(SQLiteFailure) {
    guard sqlite3_exec(raw, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
  }

  /// Begins a write transaction with `body` once it is this connection's turn.
  func begin(_ body: () throws(SQLiteFailure) -> Void) throws(SQLiteFailure) {
    turn?.join(milliseconds: courtesy)
    defer { turn?.leave() }
    try body()
  }

  /// A write transaction has ended: whoever waits may go on.
  func pass() { turn?.pass() }

  /// Lets the others go on before the pages of a long log are moved into the file, which need not keep them waiting. Without
  /// this SQLite would move them before it returns from the commit.
  private func passBeforeCheckpoint() {
    sqlite3_wal_hook(
      raw,
      { context, raw, name, pages in
        guard let context, pages >= SQLiteConnection.longLog else { return SQLITE_OK }
        Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue().pass()
        // Should it fail, the next commit tries again.
        sqlite3_wal_checkpoint_v2(raw, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}
