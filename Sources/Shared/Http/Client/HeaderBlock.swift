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
    var name = name
    var value = value
    name.withUTF8 { name in value.withUTF8 { append(name, $0, indexed: indexed) } }
  }

  // Not generic over collections: a text's bytes one by one are what a request costs most.
  mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, indexed: Bool) {
    fields.append(
      Field(
        start: UInt32(truncatingIfNeeded: bytes.count), nameLength: UInt32(truncatingIfNeeded: name.count),
        valueLength: UInt32(truncatingIfNeeded: value.count), indexed: indexed))
    bytes.append(contentsOf: name)
    bytes.append(contentsOf: value)
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
