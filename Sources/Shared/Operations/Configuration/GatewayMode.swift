/// What a program may do (rulings 8).
package enum GatewayMode: String, CaseIterable, Sendable {
  /// Everything.
  case active
  /// Answers `/health` and `/ready` alone, writes nothing and sends nothing.
  case validation

  /// Unlike all else, an empty value is a fault: a typo must not open the gate.
  init(_ settings: inout Settings) {
    let raw = settings.raw("ORCA_PUSH_MODE") ?? Self.active.rawValue
    if let mode = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(raw.utf8) }) {
      self = mode
    } else {
      settings.refuse("ORCA_PUSH_MODE", Settings.oneOf(Self.self) + ", or be left out")
      self = .validation
    }
  }
}
