import Json

/// JSON: what was read is written so that the same bytes come out when that is read, and it reads the same but for
/// numbers: 1.0 is written as 1, as JavaScript does it.
enum Documents: Target {
  static func run(_ bytes: [UInt8]) {
    guard let value = try? JsonReader.read(bytes) else { return }
    let written = JsonText.render(value)
    guard let again = try? JsonReader.read(written) else { return require(false, "what is written cannot be read") }
    require(again == value || hasNumber(value), "it reads otherwise: \(written.text)")
    require(JsonText.render(again) == written, "it writes otherwise: \(written.text)")
  }

  private static func hasNumber(_ value: JsonValue) -> Bool {
    switch value {
    case .number: true
    case .array(let elements): elements.contains(where: hasNumber)
    case .object(let object): object.members.contains { hasNumber($0.value) }
    case .null, .bool, .integer, .string: false
    }
  }
}
