internal import Json

/// Why a script cannot be used: one line.
struct ScriptFault: Error, Equatable {
  let detail: String
  init(_ detail: String) { self.detail = detail }
}

/// Reads the members of one object of a script; none may be left over.
struct ScriptMembers {
  private let object: JsonObject
  private let name: String
  private var taken: Set<String> = []

  init(_ value: JsonValue, _ name: String) throws(ScriptFault) {
    guard let object = value.object else { throw ScriptFault("\(name) must be an object") }
    self.object = object
    self.name = name
  }

  /// Throws for a member that nobody asked for.
  func end() throws(ScriptFault) {
    for (key, _) in object.members where !taken.contains(key) { throw ScriptFault("\(name) has no member \(key)") }
  }

  mutating func value(_ key: String) -> JsonValue? {
    taken.insert(key)
    return object[key]
  }

  mutating func text(_ key: String) throws(ScriptFault) -> String? {
    guard let value = value(key) else { return nil }
    guard let text = value.string else { throw ScriptFault("\(name).\(key) must be a string") }
    return text
  }

  mutating func integer(_ key: String, _ bounds: ClosedRange<Int>) throws(ScriptFault) -> Int? {
    guard let value = value(key) else { return nil }
    guard let number = value.integer, let integer = Int(exactly: number), bounds.contains(integer) else {
      throw ScriptFault("\(name).\(key) must be an integer from \(bounds.lowerBound) to \(bounds.upperBound)")
    }
    return integer
  }

  mutating func bool(_ key: String) throws(ScriptFault) -> Bool? {
    guard let value = value(key) else { return nil }
    guard let flag = value.bool else { throw ScriptFault("\(name).\(key) must be true or false") }
    return flag
  }

  mutating func word<Word>(_ key: String) throws(ScriptFault) -> Word?
  where Word: RawRepresentable<String> & CaseIterable {
    guard let text = try text(key) else { return nil }
    guard let word = Word(rawValue: text) else {
      throw ScriptFault("\(name).\(key) must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return word
  }

  mutating func list(_ key: String) throws(ScriptFault) -> [JsonValue] {
    guard let value = value(key) else { return [] }
    guard let list = value.array else { throw ScriptFault("\(name).\(key) must be an array") }
    return list
  }
}
