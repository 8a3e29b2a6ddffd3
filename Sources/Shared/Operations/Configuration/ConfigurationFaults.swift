/// One thing to mend in the environment before a program can start.
package struct ConfigurationFault: Hashable, Sendable, CustomStringConvertible {
  /// The variable's name.
  package let variable: String
  /// What is wrong and what to do about it, on one line, without the variable's value.
  package let advice: String

  package init(_ variable: String, _ advice: String) {
    self.variable = variable
    self.advice = advice
  }

  package var description: String { "\(variable) \(advice)" }
}

/// Every fault that one reading of the environment found, in the order of reading.
package struct ConfigurationFaults: Error, CustomStringConvertible {
  /// What a program exits with (EX_CONFIG of sysexits.h; rulings 8).
  package static let exitCode: Int32 = 78

  /// At least one.
  package let faults: [ConfigurationFault]

  /// A line for each fault.
  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
