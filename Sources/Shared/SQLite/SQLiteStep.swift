/// The row that a running statement stands on; read like a `SQLiteRow`, without copying the rest.
package struct SQLiteStep: ~Copyable {
  package func isNull(_ column: Int) -> Bool { true }
  package func integer(_ column: Int) throws(SQLiteFailure) -> Int64 { throw .busy }
  package func text(_ column: Int) throws(SQLiteFailure) -> String { throw .busy }
  package func blob(_ column: Int) throws(SQLiteFailure) -> [UInt8] { throw .busy }
  package func optionalInteger(_ column: Int) throws(SQLiteFailure) -> Int64? { throw .busy }
  package func optionalText(_ column: Int) throws(SQLiteFailure) -> String? { throw .busy }
  package func optionalBlob(_ column: Int) throws(SQLiteFailure) -> [UInt8]? { throw .busy }
}
