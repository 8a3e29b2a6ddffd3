/// A row, its columns read by number from 0 as the type they hold; a read as another type, or of a column that is not
/// there, throws `SQLiteFailure.other` with code 20.
package struct SQLiteRow: Sendable, Equatable {
  let values: [SQLiteValue]

  /// Whether the column is null; a column that is not there counts as null.
  package func isNull(_ column: Int) -> Bool { !values.indices.contains(column) || values[column] == .null }

  /// The column as it is, to be written elsewhere; null for a column that is not there.
  package func value(_ column: Int) -> SQLiteValue { values.indices.contains(column) ? values[column] : .null }

  package func optionalInteger(_ column: Int) throws(SQLiteFailure) -> Int64? {
    switch try present(column) {
    case .integer(let value): value
    case .null: nil
    default: throw .mismatch(column)
    }
  }
  package func optionalText(_ column: Int) throws(SQLiteFailure) -> String? {
    switch try present(column) {
    case .text(let value): value
    case .null: nil
    default: throw .mismatch(column)
    }
  }
  package func optionalBlob(_ column: Int) throws(SQLiteFailure) -> [UInt8]? {
    switch try present(column) {
    case .blob(let value): value
    case .null: nil
    default: throw .mismatch(column)
    }
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

  private func present(_ column: Int) throws(SQLiteFailure) -> SQLiteValue {
    guard values.indices.contains(column) else { throw .mismatch(column) }
    return values[column]
  }
}
