/// Reads the parameters of a query strictly: `name=value` joined by `&`, percent-encoded UTF-8 in which `+` is a space, as
/// browsers and form libraries write it. Each parameter is taken once, and none may be left over.
struct Query {
  private var parameters: [(name: String, value: String)] = []

  /// - Parameter text: what follows the `?`; nil when there is none.
  init(_ text: String?) throws(InvalidRequest) {
    guard let text, !text.isEmpty else { return }
    for part in text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else {
        throw InvalidRequest("the query must be name=value pairs joined by &")
      }
      let value = part[part.index(after: equals)...]
      guard let name = Self.decode(part[..<equals]), let value = Self.decode(value) else {
        throw InvalidRequest("the query must be UTF-8, percent-encoded")
      }
      parameters.append((name, value))
    }
  }

  /// The value of a parameter, nil when it is not there; it counts as taken.
  mutating func optional(_ name: String) throws(InvalidRequest) -> String? {
    let found = parameters.filter { Self.isSame($0.name, name) }
    if found.count > 1 { throw InvalidRequest("\(name) is given more than once") }
    parameters.removeAll { Self.isSame($0.name, name) }
    return found.first?.value
  }

  mutating func required(_ name: String) throws(InvalidRequest) -> String {
    guard let value = try optional(name) else { throw InvalidRequest("\(name) is missing") }
    return value
  }

  /// Throws when there is a parameter that nobody took; `known` are those that may be there.
  func end(_ known: String) throws(InvalidRequest) {
    if !parameters.isEmpty { throw InvalidRequest("the query may hold \(known) and nothing else") }
  }

  /// By bytes: Swift's own equality takes canonically equal texts for one.
  private static func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }

  /// Nil for an escape that is none, and for what is not UTF-8.
  private static func decode(_ text: Substring.UTF8View) -> String? {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(Hex.value), let low = rest.popFirst().flatMap(Hex.value) else {
          return nil
        }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case 0x21...0x7e: bytes.append(byte)
      default: return nil
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
