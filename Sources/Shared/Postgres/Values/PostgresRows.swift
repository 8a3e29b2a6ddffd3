internal import CPostgres

/// The rows that a statement returned. Columns are read by number, from 0, as the type they have; a read as another type,
/// of a null, or past the end throws `PostgresFailure.database`.
///
/// `@unchecked Sendable`: libpq's result never changes once received, and is freed with its one owner, this object.
package final class PostgresRows: @unchecked Sendable {
  private let result: OpaquePointer
  /// The number of rows.
  package let count: Int
  private let columns: Int

  /// Takes the result over.
  init(_ result: OpaquePointer) {
    self.result = result
    count = Int(PQntuples(result))
    columns = Int(PQnfields(result))
  }
  deinit { PQclear(result) }

  /// The number of rows that an INSERT, UPDATE or DELETE touched, or that a SELECT returned.
  package var affected: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

  /// Whether the column is null; a row or column that is not there counts as null.
  package func isNull(_ row: Int, _ column: Int) -> Bool {
    !(0..<count).contains(row) || !(0..<columns).contains(column)
      || PQgetisnull(result, Int32(row), Int32(column)) == 1
  }

  package func optionalBool(_ row: Int, _ column: Int) throws(PostgresFailure) -> Bool? {
    try cell(row, column, ColumnType.bool)?.first.map { $0 != 0 }
  }
  package func optionalInt2(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int16? {
    try integer(row, column, ColumnType.int2)
  }
  package func optionalInt4(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int32? {
    try integer(row, column, ColumnType.int4)
  }
  package func optionalInt8(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int64? {
    try integer(row, column, ColumnType.int8)
  }
  package func optionalText(_ row: Int, _ column: Int) throws(PostgresFailure) -> String? {
    try cell(row, column, ColumnType.text, ColumnType.varchar, ColumnType.name).map {
      String(decoding: $0, as: UTF8.self)
    }
  }
  package func optionalBytes(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8]? {
    try cell(row, column, ColumnType.bytes).map { Array($0) }
  }
  package func optionalUuid(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8]? {
    try cell(row, column, ColumnType.uuid).map { Array($0) }
  }

  package func bool(_ row: Int, _ column: Int) throws(PostgresFailure) -> Bool {
    try present(optionalBool(row, column), column)
  }
  package func int2(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int16 {
    try present(optionalInt2(row, column), column)
  }
  package func int4(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int32 {
    try present(optionalInt4(row, column), column)
  }
  package func int8(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int64 {
    try present(optionalInt8(row, column), column)
  }
  /// `text`, `varchar`, `name`.
  package func text(_ row: Int, _ column: Int) throws(PostgresFailure) -> String {
    try present(optionalText(row, column), column)
  }
  /// `bytea`.
  package func bytes(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8] {
    try present(optionalBytes(row, column), column)
  }
  /// 16 bytes.
  package func uuid(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8] {
    try present(optionalUuid(row, column), column)
  }

  /// The column's bytes, nil for null, once its type was found to be `type` or another that reads alike.
  func cell(
    _ row: Int, _ column: Int, _ type: Oid, _ alike: Oid = 0, _ alikeToo: Oid = 0
  ) throws(PostgresFailure) -> UnsafeRawBufferPointer? {
    guard (0..<count).contains(row), (0..<columns).contains(column) else {
      throw .database(sqlState: "42804", message: "no column \(column) in row \(row)")
    }
    let found = PQftype(result, Int32(column))
    guard found == type || found == alike || found == alikeToo, PQfformat(result, Int32(column)) == 1 else {
      throw .database(sqlState: "42804", message: "column \(column) is of type \(found), not \(type)")
    }
    if PQgetisnull(result, Int32(row), Int32(column)) == 1 { return nil }
    return UnsafeRawBufferPointer(
      start: PQgetvalue(result, Int32(row), Int32(column)), count: Int(PQgetlength(result, Int32(row), Int32(column))))
  }

  private func integer<I: FixedWidthInteger>(_ row: Int, _ column: Int, _ type: Oid) throws(PostgresFailure) -> I? {
    guard let cell = try cell(row, column, type) else { return nil }
    guard cell.count == MemoryLayout<I>.size else {
      throw .database(sqlState: "42804", message: "column \(column) has \(cell.count) bytes")
    }
    return I(bigEndian: cell.loadUnaligned(as: I.self))
  }

  func present<T>(_ value: T?, _ column: Int) throws(PostgresFailure) -> T {
    guard let value else { throw .database(sqlState: "22004", message: "column \(column) is null") }
    return value
  }
}
