import Json
import Testing

@Suite struct JsonValueTests {
  private let object: JsonObject = ["name": .string("é"), "seq": .integer(7), "sound": .bool(true), "none": .null]

  @Test("Each accessor gives its own kind and nil for every other")
  func accessors() {
    let values: [JsonValue] = [
      .null, .bool(false), .integer(1), .number(1), .string("1"), .array([.null]), .object(object),
    ]
    #expect(values.map { $0.bool } == [nil, false, nil, nil, nil, nil, nil])
    #expect(values.map { $0.integer } == [nil, nil, 1, nil, nil, nil, nil])
    #expect(values.map { $0.string } == [nil, nil, nil, nil, "1", nil, nil])
    #expect(values.map { $0.array } == [nil, nil, nil, nil, nil, [.null], nil])
    #expect(values.map { $0.object } == [nil, nil, nil, nil, nil, nil, object])
  }

  @Test("Members are found by the bytes of their key")
  func lookUp() {
    #expect(object.count == 4)
    #expect(!object.isEmpty)
    #expect(JsonObject().isEmpty)
    #expect(object["seq"] == .integer(7))
    #expect(object["none"] == .null)
    #expect(object["absent"] == nil)
    #expect(JsonValue.object(object)["sound"]?.bool == true)
    #expect(JsonValue.integer(1)["sound"] == nil)
    let accents: JsonObject = ["\u{e9}": .integer(1), "e\u{301}": .integer(2)]
    #expect(accents["\u{e9}"] == .integer(1))
    #expect(accents["e\u{301}"] == .integer(2))
    #expect(object.members.map(\.key) == ["name", "seq", "sound", "none"])
  }

  @Test("Values are equal to themselves and to no other, normalised or reordered or of another kind")
  func equality() {
    let values: [JsonValue] = [
      .null, .bool(false), .bool(true), .integer(0), .integer(1), .number(1), .number(1.5), .string(""), .string("1"),
      .string("\u{e9}"), .string("e\u{301}"), .string("e"), .array([]), .array([.string("\u{e9}")]),
      .array([.string("e\u{301}")]), .array([.null, .null]), .object([:]), .object(["\u{e9}": .null]),
      .object(["e\u{301}": .null]), .object(["a": .null]), .object(["a": .bool(true)]),
      .object(["a": .null, "b": .null]), .object(["b": .null, "a": .null]),
    ]
    for (first, left) in values.enumerated() {
      for (second, right) in values.enumerated() {
        #expect((left == right) == (first == second), "\(left) and \(right)")
      }
    }
  }
}
