/// A row, its columns read by number from 0 as the type they hold; a read as another type throws
/// `SQLiteFailure.other` with code 20.
package struct SQLiteRow: Sendable {
  let values: [SQLiteValue]

  package func isNull(_ column: Int) -> Bool { true }
  package func integer(_ column: Int) throws(SQLiteFailure) -> Int64 { throw .busy }
  package func text(_ column: Int) throws(SQLiteFailure) -> String { throw .busy }
  package func blob(_ column: Int) throws(SQLiteFailure) -> [UInt8] { throw .busy }
  package func optionalInteger(_ column: Int) throws(SQLiteFailure) -> Int64? { throw .busy }
  package func optionalText(_ column: Int) throws(SQLiteFailure) -> String? { throw .busy }
  package func optionalBlob(_ column: Int) throws(SQLiteFailure) -> [UInt8]? { throw .busy }
}
