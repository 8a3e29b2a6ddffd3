/// Header fields as bytes laid out one behind the other: built once, copied cheaply, handed to HPACK without a string
/// being made. Pseudo-header fields come first; names are in lower case.
package struct HeaderBlock: Sendable {
  /// Where a field lies.
  struct Field: Sendable {
    let name: Range<Int>
    let value: Range<Int>
    let indexed: Bool
  }

  // Each field's lengths stand before it, so that a block is one allocation.
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0

  package init() {}

  /// The four pseudo-header fields of a request. The path is not indexed: it differs for each device, and a provider's
  /// HPACK table is small.
  package init(method: String, origin: Origin, path: String) {
    reserve(672)
    add(":method", method)
    add(":scheme", origin.scheme)
    add(":authority", origin.authority)
    add(":path", path, indexed: false)
  }

  /// Adds a field, its name shorter than 64 KiB. `indexed: false` keeps it out of every HPACK table (RFC 7541 6.2.3): for
  /// credentials and for values that do not repeat.
  package mutating func add(_ name: String, _ value: String, indexed: Bool = true) {
    var name = name
    var value = value
    name.withUTF8 { name in value.withUTF8 { append(name, $0, indexed: indexed) } }
  }

  // Not generic over collections, and one step for all three parts: fields are what a request costs most here.
  mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, indexed: Bool) {
    let lengths = Lengths(value: UInt32(value.count), name: UInt16(name.count), indexed: indexed)
    let size = Lengths.size + name.count + value.count
    bytes.append(addingCapacity: size) { room in
      room.withUnsafeMutableBufferPointer { room, used in
        let room = UnsafeMutableRawBufferPointer(room)
        room.storeBytes(of: lengths, as: Lengths.self)
        UnsafeMutableRawBufferPointer(rebasing: room[Lengths.size...]).copyBytes(from: name)
        UnsafeMutableRawBufferPointer(rebasing: room[(Lengths.size + name.count)...]).copyBytes(from: value)
        used = size
      }
    }
    count += 1
  }

  /// What precedes each field.
  private struct Lengths {
    let value: UInt32
    let name: UInt16
    let indexed: Bool

    static let size = MemoryLayout<Lengths>.size
  }

  /// How large the block is, in bytes, with one field more of these lengths.
  func size(with name: Int, _ value: Int) -> Int { bytes.count + Lengths.size + name + value }

  mutating func reserve(_ bytes: Int) { self.bytes.reserveCapacity(bytes) }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    count = 0
  }

  /// Calls `body` for each field in turn.
  func forEach(_ body: (Field) -> Void) {
    var place = 0
    while place < bytes.count {
      let lengths = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: Lengths.self) }
      let name = place + Lengths.size
      let value = name + Int(lengths.name)
      place = value + Int(lengths.value)
      body(Field(name: name..<value, value: value..<place, indexed: lengths.indexed))
    }
  }

  /// The first value of `name` (given in lower case).
  package subscript(_ name: String) -> String? {
    var found: String?
    forEach { field in
      if found == nil, bytes[field.name].elementsEqual(name.utf8) {
        found = String(decoding: bytes[field.value], as: UTF8.self)
      }
    }
    return found
  }
}
