/// The rows that a statement returned. Columns are read by number, from 0, as the type they have; a read as another type,
/// of a null, or past the end throws `PostgresFailure.database`.
package final class PostgresRows: Sendable {
  init() {}
  /// The number of rows.
  package var count: Int { 0 }
  /// The number of rows that an INSERT, UPDATE or DELETE touched, or that a SELECT returned.
  package var affected: Int { 0 }

  /// Whether the column is null; a row or column that is not there counts as null.
  package func isNull(_ row: Int, _ column: Int) -> Bool { true }

  package func bool(_ row: Int, _ column: Int) throws(PostgresFailure) -> Bool { throw .closed }
  package func int2(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int16 { throw .closed }
  package func int4(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int32 { throw .closed }
  package func int8(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int64 { throw .closed }
  /// `text`, `varchar`, `name`.
  package func text(_ row: Int, _ column: Int) throws(PostgresFailure) -> String { throw .closed }
  /// `bytea`.
  package func bytes(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8] { throw .closed }
  /// 16 bytes.
  package func uuid(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8] { throw .closed }

  package func optionalBool(_ row: Int, _ column: Int) throws(PostgresFailure) -> Bool? { throw .closed }
  package func optionalInt2(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int16? { throw .closed }
  package func optionalInt4(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int32? { throw .closed }
  package func optionalInt8(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int64? { throw .closed }
  package func optionalText(_ row: Int, _ column: Int) throws(PostgresFailure) -> String? { throw .closed }
  package func optionalBytes(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8]? { throw .closed }
  package func optionalUuid(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8]? { throw .closed }

  /// An array without nulls.
  package func boolArray(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Bool] { throw .closed }
  /// An array without nulls.
  package func int2Array(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Int16] { throw .closed }
  /// An array without nulls.
  package func int4Array(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Int32] { throw .closed }
  /// An array without nulls.
  package func int8Array(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Int64] { throw .closed }
  package func optionalInt8Array(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Int64?] { throw .closed }
  package func textArray(_ row: Int, _ column: Int) throws(PostgresFailure) -> [String?] { throw .closed }
  package func bytesArray(_ row: Int, _ column: Int) throws(PostgresFailure) -> [[UInt8]?] { throw .closed }
  package func uuidArray(_ row: Int, _ column: Int) throws(PostgresFailure) -> [[UInt8]?] { throw .closed }
}
