internal import Json

/// Reads the members of one JSON object strictly: each is taken once, and none may be left over (rulings 1.1).
struct Members {
  private let object: JsonObject
  /// How errors call the object, e.g. `notification.`; empty at the top.
  private let prefix: String
  /// A bit for each member, by its place. Those past the 64th have none, which no object needs that is in order.
  private var taken: UInt64 = 0

  init(_ value: JsonValue, prefix: String = "") throws(InvalidRequest) {
    guard case .object(let object) = value else {
      throw InvalidRequest(prefix.isEmpty ? "the body must be a JSON object" : "\(prefix.dropLast()) must be an object")
    }
    self.object = object
    self.prefix = prefix
  }

  /// Throws when the object has a member that nobody took.
  func end() throws(InvalidRequest) {
    guard taken.nonzeroBitCount != object.count else { return }
    // The first that is left over: it comes within a few places, since few were taken.
    let name = object.members[(~taken).trailingZeroBitCount].key
    if Self.isPlain(name) { throw fault(name, "is no member that the contract defines") }
    let place = prefix.isEmpty ? "the body" : String(prefix.dropLast())
    throw InvalidRequest("\(place) has a member that the contract does not define (its name is long or not printable)")
  }

  /// Whether a name that the request made up can be told in one line: a slip of the pen, and no text or token in its place.
  private static func isPlain(_ name: String) -> Bool {
    (1...40).contains(name.utf8.count) && name.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }

  func fault(_ name: String, _ rule: String) -> InvalidRequest { InvalidRequest("\(prefix)\(name) \(rule)") }

  mutating func optional(_ name: String) -> JsonValue? {
    guard let place = object.place(of: name) else { return nil }
    if place < UInt64.bitWidth { taken |= 1 << place }
    return object.members[place].value
  }

  mutating func required(_ name: String) throws(InvalidRequest) -> JsonValue {
    guard let value = optional(name) else { throw fault(name, "is missing") }
    return value
  }

  mutating func version() throws(InvalidRequest) {
    guard case .integer(1) = try required("v") else { throw fault("v", "must be the integer 1") }
  }

  mutating func integer(_ name: String) throws(InvalidRequest) -> Int64 { try integer(name, try required(name)) }

  mutating func optionalInteger(_ name: String) throws(InvalidRequest) -> Int64? {
    guard let value = optional(name) else { return nil }
    return try integer(name, value)
  }

  private func integer(_ name: String, _ value: JsonValue) throws(InvalidRequest) -> Int64 {
    guard case .integer(let number) = value, (0...Limits.integer).contains(number) else {
      throw fault(name, "must be an integer from 0 to 9007199254740991")
    }
    return number
  }

  mutating func optionalBool(_ name: String) throws(InvalidRequest) -> Bool? {
    guard let value = optional(name) else { return nil }
    guard case .bool(let flag) = value else { throw fault(name, "must be true or false") }
    return flag
  }

  /// A text of `lengths` UTF-16 code units.
  mutating func text(_ name: String, _ lengths: ClosedRange<Int>) throws(InvalidRequest) -> String {
    try text(name, try required(name), lengths)
  }

  mutating func optionalText(_ name: String, _ lengths: ClosedRange<Int>) throws(InvalidRequest) -> String? {
    guard let value = optional(name) else { return nil }
    return try text(name, value, lengths)
  }

  private func text(_ name: String, _ value: JsonValue, _ lengths: ClosedRange<Int>) throws(InvalidRequest) -> String {
    guard case .string(let text) = value else { throw fault(name, "must be a string") }
    // A UTF-8 text has at least as many bytes as UTF-16 units: the cheap count settles most.
    let bytes = text.utf8.count
    let fits = bytes <= lengths.upperBound && bytes >= 3 * lengths.lowerBound || lengths.contains(text.utf16.count)
    guard fits else {
      throw fault(name, "must have \(lengths.lowerBound) to \(lengths.upperBound) characters")
    }
    return text
  }

  /// An opaque id: 1 to 128 characters, no control characters (rulings 1.4).
  mutating func opaqueId(_ name: String) throws(InvalidRequest) -> String { try opaqueId(name, try required(name)) }

  func opaqueId(_ name: String, _ value: JsonValue) throws(InvalidRequest) -> String {
    let id = try text(name, value, 1...Limits.opaqueId)
    guard OpaqueId.isClean(id) else { throw fault(name, "must not hold control characters") }
    return id
  }
}

/// The one rule on the spelling of opaque ids (rulings 1.4).
package enum OpaqueId {
  /// Whether `id` has an allowed length and no control character.
  package static func isValid(_ id: String) -> Bool {
    (1...Limits.opaqueId).contains(id.utf16.count) && isClean(id)
  }

  static func isClean(_ id: String) -> Bool {
    !id.unicodeScalars.contains { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) }
  }
}
