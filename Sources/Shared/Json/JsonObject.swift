/// The members of a JSON object in the order in which they were written. Keys are compared byte for byte.
///
/// Look-up walks the members: objects here are small and ``JsonReader`` bounds them.
package struct JsonObject: Sendable {
  /// The members in order. ``JsonReader`` never yields two with the same key.
  package let members: [(key: String, value: JsonValue)]

  /// An object of these members, whose keys should differ; of equal keys, look-up finds the first.
  package init(_ members: [(key: String, value: JsonValue)] = []) {
    self.members = members
  }

  /// How many members there are.
  package var count: Int { members.count }

  /// Whether there are no members.
  package var isEmpty: Bool { members.isEmpty }

  /// The value of the member of that name, or nil when there is none. A member that is `null` gives `.null`.
  package subscript(key: String) -> JsonValue? { place(of: key).map { members[$0].value } }

  /// Where in `members` the member of that name stands, or nil when there is none.
  package func place(of key: String) -> Int? {
    for place in members.indices where members[place].key.hasSameBytes(as: key) { return place }
    return nil
  }
}

extension JsonObject: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, JsonValue)...) {
    self.init(elements.map { (key: $0.0, value: $0.1) })
  }
}

extension JsonObject: Equatable {
  /// Order counts: equal objects are written as the same bytes.
  package static func == (left: JsonObject, right: JsonObject) -> Bool {
    guard left.count == right.count else { return false }
    for (left, right) in zip(left.members, right.members) {
      guard left.key.hasSameBytes(as: right.key), left.value == right.value else { return false }
    }
    return true
  }
}
