internal import CSQLite

/// The row that a running statement stands on; read like a `SQLiteRow`, without copying the columns that nobody reads.
package struct SQLiteStep: ~Copyable {
  private let statement: OpaquePointer
  private let columns: Int

  init(_ statement: OpaquePointer, columns: Int) {
    self.statement = statement
    self.columns = columns
  }

  /// Whether the column is null; a column that is not there counts as null.
  package func isNull(_ column: Int) -> Bool {
    !(0..<columns).contains(column) || sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
  }

  package func optionalInteger(_ column: Int) throws(SQLiteFailure) -> Int64? {
    try holds(column, SQLITE_INTEGER) ? sqlite3_column_int64(statement, Int32(column)) : nil
  }
  package func optionalText(_ column: Int) throws(SQLiteFailure) -> String? {
    guard try holds(column, SQLITE_TEXT) else { return nil }
    return readText(column)
  }
  package func optionalBlob(_ column: Int) throws(SQLiteFailure) -> [UInt8]? {
    guard try holds(column, SQLITE_BLOB) else { return nil }
    return readBlob(column)
  }

  package func integer(_ column: Int) throws(SQLiteFailure) -> Int64 {
    guard let value = try optionalInteger(column) else { throw .mismatch(column) }
    return value
  }
  package func text(_ column: Int) throws(SQLiteFailure) -> String {
    guard let value = try optionalText(column) else { throw .mismatch(column) }
    return value
  }
  package func blob(_ column: Int) throws(SQLiteFailure) -> [UInt8] {
    guard let value = try optionalBlob(column) else { throw .mismatch(column) }
    return value
  }

  /// The whole row, to be kept.
  var row: SQLiteRow {
    SQLiteRow(
      values: (0..<columns).map { column in
        switch sqlite3_column_type(statement, Int32(column)) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, Int32(column)))
        case SQLITE_TEXT: .text(readText(column))
        case SQLITE_BLOB: .blob(readBlob(column))
        // No table of ours holds floating point; read as an integer it would be cut.
        case SQLITE_FLOAT: .text(readText(column))
        default: .null
        }
      })
  }

  private func holds(_ column: Int, _ type: Int32) throws(SQLiteFailure) -> Bool {
    guard (0..<columns).contains(column) else { throw .mismatch(column) }
    let found = sqlite3_column_type(statement, Int32(column))
    if found == SQLITE_NULL { return false }
    guard found == type else { throw .mismatch(column) }
    return true
  }

  private func readText(_ column: Int) -> String {
    // The length is asked for after the text, which may have to be converted.
    let start = sqlite3_column_text(statement, Int32(column))
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, Int32(column))))
    return String(decoding: bytes, as: UTF8.self)
  }

  private func readBlob(_ column: Int) -> [UInt8] {
    let start = sqlite3_column_blob(statement, Int32(column))
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, Int32(column)))))
  }
}
