internal import CPostgres

/// Lays parameters out in Postgres' binary format. Kept and used again, so that a statement costs no allocation here.
struct ParameterBuffer {
  private(set) var types: [Oid] = []
  private var starts: [Int] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []
  private var pointers: [UnsafePointer<CChar>?] = []
  private var bytes: [UInt8] = []

  /// Replaces what was there by `values`.
  mutating func load(_ values: [PostgresValue]) throws(PostgresFailure) {
    types.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    lengths.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    for value in values {
      let start = bytes.count
      types.append(try append(value))
      starts.append(value == .null ? -1 : start)
      lengths.append(Int32(truncatingIfNeeded: bytes.count - start))
    }
    // The protocol counts parameters in 16 bits; the server takes no message over 1 GiB.
    guard values.count <= Int(UInt16.max), bytes.count < 1 << 30 else {
      throw .database(sqlState: "54000", message: "too many or too large parameters")
    }
    while formats.count < values.count { formats.append(1) }
    // An empty text still needs an address: none would mean null.
    bytes.append(0)
  }

  /// Lends the loaded parameters in the shape that libpq takes: count, values, lengths, formats.
  mutating func lend<R>(
    _ body: (
      Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> R
  ) -> R {
    bytes.withUnsafeBytes { raw in
      let base = raw.bindMemory(to: CChar.self).baseAddress
      pointers.removeAll(keepingCapacity: true)
      for start in starts { pointers.append(start < 0 ? nil : base.map { $0 + start }) }
      return pointers.withUnsafeBufferPointer { pointers in
        lengths.withUnsafeBufferPointer { lengths in
          formats.withUnsafeBufferPointer { formats in
            body(Int32(pointers.count), pointers.baseAddress, lengths.baseAddress, formats.baseAddress)
          }
        }
      }
    }
  }

  private mutating func append(_ value: PostgresValue) throws(PostgresFailure) -> Oid {
    switch value {
    case .null: return 0
    case .bool(let value):
      bytes.append(value ? 1 : 0)
      return ColumnType.bool
    case .int2(let value):
      append(value)
      return ColumnType.int2
    case .int4(let value):
      append(value)
      return ColumnType.int4
    case .int8(let value):
      append(value)
      return ColumnType.int8
    case .text(let value):
      bytes.append(contentsOf: value.utf8)
      return ColumnType.text
    case .bytes(let value):
      bytes.append(contentsOf: value)
      return ColumnType.bytes
    case .uuid(let value):
      try Self.checkUuid(value)
      bytes.append(contentsOf: value)
      return ColumnType.uuid
    case .bools(let values):
      array(of: ColumnType.bool, values) { $0.bytes.append($1 ? 1 : 0) }
      return ColumnType.bools
    case .int2s(let values):
      array(of: ColumnType.int2, values) { $0.append($1) }
      return ColumnType.int2s
    case .int4s(let values):
      array(of: ColumnType.int4, values) { $0.append($1) }
      return ColumnType.int4s
    case .int8s(let values):
      array(of: ColumnType.int8, values) { $0.append($1) }
      return ColumnType.int8s
    case .optionalInt8s(let values):
      array(of: ColumnType.int8, values) { $0.append($1) }
      return ColumnType.int8s
    case .texts(let values):
      array(of: ColumnType.text, values) { $0.bytes.append(contentsOf: $1.utf8) }
      return ColumnType.texts
    case .bytesArray(let values):
      array(of: ColumnType.bytes, values) { $0.bytes.append(contentsOf: $1) }
      return ColumnType.bytesArray
    case .uuids(let values):
      for case let value? in values { try Self.checkUuid(value) }
      array(of: ColumnType.uuid, values) { $0.bytes.append(contentsOf: $1) }
      return ColumnType.uuids
    }
  }

  private static func checkUuid(_ value: [UInt8]) throws(PostgresFailure) {
    guard value.count == 16 else { throw .database(sqlState: "22P03", message: "a uuid has 16 bytes") }
  }

  private mutating func append<I: FixedWidthInteger>(_ value: I) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Dimensions (0 for an empty array), whether nulls occur, element type; then length and lower bound; then each element
  /// behind its length, -1 for null.
  private mutating func array<Element>(
    of type: Oid, _ values: [Element?], _ element: (inout ParameterBuffer, Element) -> Void
  ) {
    append(values.isEmpty ? 0 : 1 as Int32)
    append(values.contains { $0 == nil } ? 1 : 0 as Int32)
    append(type)
    if values.isEmpty { return }
    append(Int32(truncatingIfNeeded: values.count))
    append(1 as Int32)
    for value in values {
      guard let value else {
        append(-1 as Int32)
        continue
      }
      let mark = bytes.count
      append(0 as Int32)
      element(&self, value)
      let length = Int32(truncatingIfNeeded: bytes.count - mark - 4)
      withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(mark..<mark + 4, with: $0) }
    }
  }
}
