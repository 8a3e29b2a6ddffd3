package import Contract

/// Reads one environment and gathers what is wrong with it, so that all faults are told at once.
///
/// An empty value counts as absent (rulings 8). White space around a value is cut: secret stores and shells like to
/// leave a newline behind. Every reader gives a usable value even where it records a fault, so that reading goes on.
package struct Settings {
  private let environment: [String: String]
  private var faults: [ConfigurationFault] = []

  package init(_ environment: [String: String]) { self.environment = environment }

  /// Ends the reading.
  package func finish() throws(ConfigurationFaults) {
    if !faults.isEmpty { throw ConfigurationFaults(faults: faults) }
  }

  /// Records that `variable` cannot be used as it stands. `advice` follows the name and never holds the value.
  package mutating func refuse(_ variable: String, _ advice: String) {
    let fault = ConfigurationFault(variable, advice)
    if !faults.contains(fault) { faults.append(fault) }
  }

  /// The value as it stands, nil when the variable does not exist.
  package func raw(_ variable: String) -> String? { environment[variable] }

  /// The value without the white space around it; nil when it is absent or empty.
  package mutating func text(_ variable: String) -> String? {
    guard let raw = environment[variable], !raw.isEmpty else { return nil }
    let text = raw.trimmingBlanks
    if text.isEmpty { refuse(variable, "holds nothing but white space: set it or leave it out") }
    return text.isEmpty ? nil : text
  }

  /// A whole number in plain digits within `bounds`.
  package mutating func integer(_ variable: String, in bounds: ClosedRange<Int>) -> Int? {
    guard let text = text(variable) else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), bounds.contains(number) {
      return number
    }
    refuse(variable, "must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
    return nil
  }

  /// An origin that cannot be read on the way: https, or http on loopback.
  package mutating func origin(_ variable: String) -> Origin? {
    guard let text = text(variable) else { return nil }
    do throws(OriginFault) {
      let origin = try Origin(text)
      if origin.isPrivate { return origin }
      refuse(variable, "must use https (plain http is for loopback addresses alone)")
    } catch {
      refuse(variable, error.description)
    }
    return nil
  }

  /// One of the texts that `Choice` names.
  package mutating func choice<Choice>(_ variable: String) -> Choice?
  where Choice: RawRepresentable<String> & CaseIterable {
    guard let text = text(variable) else { return nil }
    let found = Choice.allCases.first { $0.rawValue.utf8.elementsEqual(text.utf8) }
    if found == nil { refuse(variable, Self.oneOf(Choice.self)) }
    return found
  }

  /// "must be a, b or c".
  static func oneOf<Choice>(_ type: Choice.Type) -> String where Choice: RawRepresentable<String> & CaseIterable {
    "must be " + type.allCases.map(\.rawValue).joined(separator: " or ")
  }
}

extension String {
  /// Without ASCII white space at both ends.
  var trimmingBlanks: String {
    let blank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
    let start = utf8.drop(while: blank)
    guard let last = start.lastIndex(where: { !blank($0) }) else { return "" }
    return String(Substring(start[...last]))
  }
}
