internal import CPostgres

extension PostgresRows {
  /// An array without nulls.
  package func boolArray(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Bool] {
    try full(array(row, column, ColumnType.bools) { $0.first.map { $0 != 0 } }, column)
  }
  /// An array without nulls.
  package func int2Array(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Int16] {
    try full(array(row, column, ColumnType.int2s, Self.integer), column)
  }
  /// An array without nulls.
  package func int4Array(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Int32] {
    try full(array(row, column, ColumnType.int4s, Self.integer), column)
  }
  /// An array without nulls.
  package func int8Array(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Int64] {
    try full(array(row, column, ColumnType.int8s, Self.integer), column)
  }
  package func optionalInt8Array(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Int64?] {
    try array(row, column, ColumnType.int8s, Self.integer)
  }
  package func textArray(_ row: Int, _ column: Int) throws(PostgresFailure) -> [String?] {
    try array(row, column, ColumnType.texts) { String(decoding: $0, as: UTF8.self) }
  }
  package func bytesArray(_ row: Int, _ column: Int) throws(PostgresFailure) -> [[UInt8]?] {
    try array(row, column, ColumnType.bytesArray) { Array($0) }
  }
  package func uuidArray(_ row: Int, _ column: Int) throws(PostgresFailure) -> [[UInt8]?] {
    try array(row, column, ColumnType.uuids) { Array($0) }
  }

  private static func integer<I: FixedWidthInteger>(_ bytes: Slice<UnsafeRawBufferPointer>) -> I? {
    guard bytes.count == MemoryLayout<I>.size else { return nil }
    return I(bigEndian: UnsafeRawBufferPointer(rebasing: bytes).loadUnaligned(as: I.self))
  }

  private func full<T>(_ values: [T?], _ column: Int) throws(PostgresFailure) -> [T] {
    var result: [T] = []
    result.reserveCapacity(values.count)
    for value in values { result.append(try present(value, column)) }
    return result
  }

  private func array<T>(
    _ row: Int, _ column: Int, _ type: Oid, _ element: (Slice<UnsafeRawBufferPointer>) -> T?
  ) throws(PostgresFailure) -> [T?] {
    let cell = try present(cell(row, column, type), column)
    var position = 0
    func next() throws(PostgresFailure) -> Int {
      guard position + 4 <= cell.count else { throw malformed }
      defer { position += 4 }
      return Int(Int32(bigEndian: cell.loadUnaligned(fromByteOffset: position, as: Int32.self)))
    }
    let malformed = PostgresFailure.database(sqlState: "42804", message: "column \(column) is no plain array")
    let dimensions = try next()
    position += 8
    if dimensions == 0 { return [] }
    let length = try next()
    position += 4
    guard dimensions == 1, length >= 0, length <= cell.count / 4 else { throw malformed }
    var result: [T?] = []
    result.reserveCapacity(length)
    for _ in 0..<length {
      let size = try next()
      if size < 0 {
        result.append(nil)
        continue
      }
      guard position + size <= cell.count, let value = element(cell[position..<position + size]) else {
        throw malformed
      }
      result.append(value)
      position += size
    }
    return result
  }
}
