/// Reads one JSON document strictly (RFC 8259) in time linear in its length, whatever the bytes are.
///
/// Refused beside what the grammar refuses: anything but UTF-8 (even in members that nobody looks at), a byte order mark,
/// a member that appears twice in an object, a surrogate escape without its pair, a number that is not finite as a
/// Double, and whatever passes the bounds. `\u0000` is JSON and is taken; who cannot store it must look.
package struct JsonReader {
  // A Span cannot be kept in a plain struct, so the document is passed down and only the place in it is state.
  var offset = 0
  private let maxDepth: Int
  private let maxMembers: Int

  /// Reads the document.
  ///
  /// - Parameters:
  ///   - maxDepth: how many arrays and objects may stand within each other. Reading recurses, so keep it below 1000.
  ///   - maxMembers: how many members an object, or elements an array, may have.
  package static func read(
    _ bytes: [UInt8], maxDepth: Int = 16, maxMembers: Int = 1000
  ) throws(JsonFault) -> JsonValue {
    try read(bytes.span, maxDepth: maxDepth, maxMembers: maxMembers)
  }

  /// Reads the document out of borrowed bytes; the value keeps none of them.
  package static func read(
    _ bytes: Span<UInt8>, maxDepth: Int = 16, maxMembers: Int = 1000
  ) throws(JsonFault) -> JsonValue {
    var reader = JsonReader(maxDepth: maxDepth, maxMembers: maxMembers)
    reader.skipWhitespace(bytes)
    let value = try reader.value(bytes, depth: 0)
    reader.skipWhitespace(bytes)
    guard reader.offset == bytes.count else { throw reader.fault(.trailingBytes) }
    return value
  }

  private init(maxDepth: Int, maxMembers: Int) {
    self.maxDepth = maxDepth
    self.maxMembers = maxMembers
  }

  func fault(_ reason: JsonFault.Reason) -> JsonFault { JsonFault(reason: reason, offset: offset) }

  /// The byte at hand, or NUL at the end: NUL is acceptable nowhere, so the two need no telling apart.
  func next(_ bytes: Span<UInt8>) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

  /// Passes the byte if it is the one at hand.
  mutating func take(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
    guard next(bytes) == byte else { return false }
    offset += 1
    return true
  }

  private mutating func skipWhitespace(_ bytes: Span<UInt8>) {
    while offset < bytes.count {
      switch bytes[offset] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): offset += 1
      default: return
      }
    }
  }

  private mutating func value(_ bytes: Span<UInt8>, depth: Int) throws(JsonFault) -> JsonValue {
    switch next(bytes) {
    case UInt8(ascii: "\""): return .string(try string(bytes))
    case UInt8(ascii: "{"): return .object(try object(bytes, depth: depth + 1))
    case UInt8(ascii: "["): return .array(try array(bytes, depth: depth + 1))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(bytes)
    case UInt8(ascii: "t"): return try word("true", .bool(true), bytes)
    case UInt8(ascii: "f"): return try word("false", .bool(false), bytes)
    case UInt8(ascii: "n"): return try word("null", .null, bytes)
    default: throw fault(.valueExpected)
    }
  }

  private mutating func word(_ word: String, _ value: JsonValue, _ bytes: Span<UInt8>) throws(JsonFault) -> JsonValue {
    for byte in word.utf8 {
      guard take(byte, bytes) else { throw fault(.valueExpected) }
    }
    return value
  }

  private mutating func array(_ bytes: Span<UInt8>, depth: Int) throws(JsonFault) -> [JsonValue] {
    guard depth <= maxDepth else { throw fault(.tooDeep) }
    offset += 1
    var elements: [JsonValue] = []
    skipWhitespace(bytes)
    if take(UInt8(ascii: "]"), bytes) { return elements }
    while true {
      guard elements.count < maxMembers else { throw fault(.tooManyMembers) }
      elements.append(try value(bytes, depth: depth))
      skipWhitespace(bytes)
      if take(UInt8(ascii: "]"), bytes) { return elements }
      guard take(UInt8(ascii: ","), bytes) else { throw fault(.commaExpected) }
      skipWhitespace(bytes)
    }
  }

  private mutating func object(_ bytes: Span<UInt8>, depth: Int) throws(JsonFault) -> JsonObject {
    guard depth <= maxDepth else { throw fault(.tooDeep) }
    offset += 1
    var members: [(key: String, value: JsonValue)] = []
    var keys = KeysSeen()
    skipWhitespace(bytes)
    if take(UInt8(ascii: "}"), bytes) { return JsonObject() }
    members.reserveCapacity(4)
    while true {
      guard members.count < maxMembers else { throw fault(.tooManyMembers) }
      let start = offset
      guard next(bytes) == UInt8(ascii: "\"") else { throw fault(.keyExpected) }
      let key = try string(bytes)
      guard keys.admit(key, after: members) else { throw JsonFault(reason: .duplicateKey, offset: start) }
      skipWhitespace(bytes)
      guard take(UInt8(ascii: ":"), bytes) else { throw fault(.colonExpected) }
      skipWhitespace(bytes)
      members.append((key, try value(bytes, depth: depth)))
      skipWhitespace(bytes)
      if take(UInt8(ascii: "}"), bytes) { return JsonObject(members) }
      guard take(UInt8(ascii: ","), bytes) else { throw fault(.commaExpected) }
      skipWhitespace(bytes)
    }
  }
}

/// Tells a repeated key: by comparing with each while they are few, by a seeded hash once they are many, so that no
/// choice of keys makes a large object cost the square of its size.
private struct KeysSeen {
  private static let few = 16
  private var seen: Set<[UInt8]> = []

  /// False when the key, as bytes, is one of the members' already.
  mutating func admit(_ key: String, after members: [(key: String, value: JsonValue)]) -> Bool {
    if members.count < Self.few {
      for member in members where member.key.hasSameBytes(as: key) { return false }
      return true
    }
    if seen.isEmpty { seen = Set(members.map { Array($0.key.utf8) }) }
    return seen.insert(Array(key.utf8)).inserted
  }
}
