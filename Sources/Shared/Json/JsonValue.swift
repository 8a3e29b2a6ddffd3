/// One JSON value, as ``JsonReader`` reads it and ``JsonText`` writes it.
///
/// Equality is that of what was written: strings byte for byte (never canonical equivalence), members in their order,
/// and `integer(1)` differs from `number(1.0)`, so that a caller who asks for an integer cannot be given `1.0`.
package enum JsonValue: Sendable {
  case null
  case bool(Bool)
  /// A literal without fraction and exponent that fits in 64 bits, exact.
  case integer(Int64)
  /// Any other literal: with a fraction, with an exponent, or an integer beyond 64 bits. Always finite when read.
  case number(Double)
  case string(String)
  case array([JsonValue])
  case object(JsonObject)
}

extension JsonValue {
  /// The string, or nil when the value is of another kind.
  package var string: String? { if case .string(let string) = self { string } else { nil } }

  /// The exact integer, or nil when the value is of another kind; a `number` is never one, even when it is whole.
  package var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }

  /// The truth value, or nil when the value is of another kind.
  package var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }

  /// The object, or nil when the value is of another kind.
  package var object: JsonObject? { if case .object(let object) = self { object } else { nil } }

  /// The elements, or nil when the value is of another kind.
  package var array: [JsonValue]? { if case .array(let array) = self { array } else { nil } }

  /// The object's member of that name, or nil when there is none or the value is no object.
  package subscript(_ key: String) -> JsonValue? { object?[key] }
}

extension JsonValue: Equatable {
  package static func == (left: JsonValue, right: JsonValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }
}

extension String {
  /// Byte equality. `==` would call strings equal that differ in Unicode normalisation, which no peer does.
  func hasSameBytes(as other: String) -> Bool {
    let left = utf8Span.span
    let right = other.utf8Span.span
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
  }
}
