/// Header fields as bytes laid out one behind the other: built once, copied cheaply, handed to HPACK without a string
/// being made. Pseudo-header fields come first; names are in lower case.
package struct HeaderBlock: Sendable {
  struct Field: Sendable {
    let start: UInt32
    let nameLength: UInt32
    let valueLength: UInt32
    let indexed: Bool
  }

  private(set) var bytes: [UInt8] = []
  private(set) var fields: [Field] = []

  package init() {}

  /// The four pseudo-header fields of a request. The path is not indexed: it differs for each device, and a provider's
  /// HPACK table is small.
  package init(method: String, origin: Origin, path: String) {
    reserve(bytes: 640, fields: 12)
    add(":method", method)
    add(":scheme", origin.scheme)
    add(":authority", origin.authority)
    add(":path", path, indexed: false)
  }

  /// Adds a field. `indexed: false` keeps it out of every HPACK table (RFC 7541 6.2.3): for credentials and for values
  /// that do not repeat.
  package mutating func add(_ name: String, _ value: String, indexed: Bool = true) {
    append(name.utf8, value.utf8, indexed: indexed)
  }

  mutating func append(_ name: some Collection<UInt8>, _ value: some Collection<UInt8>, indexed: Bool) {
    let start = bytes.count
    bytes.append(contentsOf: name)
    let nameLength = bytes.count - start
    bytes.append(contentsOf: value)
    let valueLength = bytes.count - start - nameLength
    fields.append(
      Field(
        start: UInt32(truncatingIfNeeded: start), nameLength: UInt32(truncatingIfNeeded: nameLength),
        valueLength: UInt32(truncatingIfNeeded: valueLength), indexed: indexed))
  }

  mutating func reserve(bytes count: Int, fields: Int) {
    bytes.reserveCapacity(count)
    self.fields.reserveCapacity(fields)
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
  }

  /// The first value of `name` (given in lower case).
  package subscript(_ name: String) -> String? {
    for field in fields where Int(field.nameLength) == name.utf8.count {
      let start = Int(field.start)
      let value = start + Int(field.nameLength)
      guard bytes[start..<value].elementsEqual(name.utf8) else { continue }
      return String(decoding: bytes[value..<(value + Int(field.valueLength))], as: UTF8.self)
    }
    return nil
  }
}
