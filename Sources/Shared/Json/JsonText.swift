/// Writes compact JSON, byte for byte what JavaScript's `JSON.stringify` gives for the same values: no spaces, members
/// in the order given, escapes only for `"`, `\` and control characters, everything else as raw UTF-8.
///
/// ```swift
/// var text = JsonText(reserving: 512)
/// text.object {
///   $0.object("aps") { $0.member("sound", "default") }
///   $0.member("seq", 7)
///   $0.array("ids") { for id in ids { $0.string(id) } }
/// }
/// send(text.bytes)
/// ```
/// Brackets are balanced by construction. That an object holds members (`key` and a value in turn) and an array values
/// alone is the caller's care, as is one value at the top.
package struct JsonText: Sendable {
  /// What has been written so far.
  package internal(set) var bytes: [UInt8] = []
  /// Whether a value stands before, in the bracket that is open.
  private var needsComma = false

  /// An empty text with room for that many bytes before it has to grow.
  package init(reserving capacity: Int = 256) {
    bytes.reserveCapacity(capacity)
  }

  /// Writes an object whose members the closure writes.
  package mutating func object(_ members: (inout JsonText) -> Void) {
    open(UInt8(ascii: "{"))
    members(&self)
    close(UInt8(ascii: "}"))
  }

  /// Writes an array whose elements the closure writes.
  package mutating func array(_ elements: (inout JsonText) -> Void) {
    open(UInt8(ascii: "["))
    elements(&self)
    close(UInt8(ascii: "]"))
  }

  /// Writes a member's name; its value must follow.
  package mutating func key(_ key: String) {
    string(key)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a string.
  package mutating func string(_ string: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    append(escaping: string)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes an integer, exactly.
  package mutating func integer(_ integer: Int64) {
    separate()
    append(decimal: integer)
  }

  /// Writes an integer, exactly.
  package mutating func integer(_ integer: Int) { self.integer(Int64(integer)) }

  /// Writes a number in its shortest form, so a whole one without a fraction; `null` when it is not finite.
  package mutating func number(_ number: Double) {
    separate()
    append(number: number)
  }

  /// Writes `true` or `false`.
  package mutating func bool(_ bool: Bool) {
    separate()
    bytes.append(contentsOf: (bool ? "true" : "false").utf8)
  }

  /// Writes `null`.
  package mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Writes one value that is JSON text already, as it is.
  package mutating func raw(_ json: [UInt8]) {
    separate()
    bytes.append(contentsOf: json)
  }

  /// Writes any value.
  package mutating func value(_ value: JsonValue) {
    switch value {
    case .null: null()
    case .bool(let bool): self.bool(bool)
    case .integer(let integer): self.integer(integer)
    case .number(let number): self.number(number)
    case .string(let string): self.string(string)
    case .array(let elements): array { for element in elements { $0.value(element) } }
    case .object(let object): self.object { for member in object.members { $0.member(member.key, member.value) } }
    }
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }
}

extension JsonText {
  /// The value as JSON text.
  package static func render(_ value: JsonValue) -> [UInt8] {
    var text = JsonText()
    text.value(value)
    return text.bytes
  }

  /// One string as a JSON literal, quotes and all.
  package static func string(_ string: String) -> [UInt8] {
    var text = JsonText(reserving: string.utf8.count + 16)
    text.string(string)
    return text.bytes
  }
}
