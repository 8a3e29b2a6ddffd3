/// Why a program cannot go on, told in one line on standard error.
package struct ProgramFailure: Error, Equatable, CustomStringConvertible {
  /// What a program exits with (sysexits.h).
  package enum Code: Int32, Sendable {
    /// Called with arguments that it does not know.
    case usage = 64
    /// What it was asked about may be several things.
    case ambiguous = 65
    /// What it was asked about is not there.
    case notFound = 66
    /// Something that it needs is not to be had: a port, the database.
    case unavailable = 69
    /// A fault of its own.
    case fault = 70
    /// The environment holds faults.
    case configuration = 78
  }

  package let code: Code
  /// What is wrong and what to mend, without anything secret.
  package let description: String

  package init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// Called with a word that means nothing to it.
  package static func unknown(_ word: String, _ usage: String) -> ProgramFailure {
    // Whatever was pasted into a command line is told shortly, and cannot steer a terminal.
    let shown = String(decoding: word.utf8.lazy.filter { (0x20...0x7e).contains($0) }.prefix(40), as: UTF8.self)
    return ProgramFailure(.usage, "\"\(shown)\" is none of its words\n\(usage)")
  }

  /// What to tell of any error that ends a program. Of an error of unknown kind only its type is told, since its text
  /// may hold anything.
  package init(_ error: any Error) {
    switch error {
    case let failure as ProgramFailure: self = failure
    case let faults as ConfigurationFaults: self.init(.configuration, faults.description)
    default: self.init(.fault, "stopped by a fault of its own: \(type(of: error))")
    }
  }
}
