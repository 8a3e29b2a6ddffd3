extension JsonText {
  /// Writes a member that is a string.
  package mutating func member(_ key: String, _ string: String) {
    self.key(key)
    self.string(string)
  }

  /// Writes a member that is a string, or nothing at all when there is none.
  package mutating func member(_ key: String, ifPresent string: String?) {
    if let string { member(key, string) }
  }

  /// Writes a member that is an integer.
  package mutating func member(_ key: String, _ integer: Int64) {
    self.key(key)
    self.integer(integer)
  }

  /// Writes a member that is an integer.
  package mutating func member(_ key: String, _ integer: Int) { member(key, Int64(integer)) }

  /// Writes a member that is `true` or `false`.
  package mutating func member(_ key: String, _ bool: Bool) {
    self.key(key)
    self.bool(bool)
  }

  /// Writes a member of any kind.
  package mutating func member(_ key: String, _ value: JsonValue) {
    self.key(key)
    self.value(value)
  }

  /// Writes a member whose value is JSON text already, as it is.
  package mutating func member(_ key: String, raw json: [UInt8]) {
    self.key(key)
    self.raw(json)
  }

  /// Writes a member that is an object whose members the closure writes.
  package mutating func object(_ key: String, _ members: (inout JsonText) -> Void) {
    self.key(key)
    self.object(members)
  }

  /// Writes a member that is an array whose elements the closure writes.
  package mutating func array(_ key: String, _ elements: (inout JsonText) -> Void) {
    self.key(key)
    self.array(elements)
  }
}
