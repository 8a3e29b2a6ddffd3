import PushHost

/// Why the command ends with another code than 0; codes as in sysexits(3).
struct Failure: Error {
  enum Code: Int32 {
    /// The request was carried out, but not for every phone; or `doctor` found something.
    case partly = 1
    /// The command line is wrong.
    case usage = 64
    /// A file that was named cannot be read, or holds something else.
    case input = 66
    /// The gateway cannot be reached, or has trouble of its own.
    case unavailable = 69
    /// This host's own files cannot be written or read.
    case state = 73
    /// Too many requests: later.
    case throttled = 75
    /// The gateway refused.
    case refused = 77
    /// No gateway is named, or the address or the folder is no such thing.
    case configuration = 78
  }

  let code: Code
  let message: String
  /// One word for scripts.
  let reason: String
  /// Set where the usage was asked for, which is no fault.
  var isHelp = false

  init(_ code: Code, _ reason: String, _ message: String) {
    self.code = code
    self.reason = reason
    self.message = message
  }

  /// - Parameter command: whose options the message is about.
  static func usage(_ message: String, of command: Grammar.Command? = nil) -> Failure {
    let words = ["pushhost", command?.name, "--help"].compactMap(\.self).joined(separator: " ")
    return Failure(.usage, "usage", "\(message); see \(words)")
  }

  static func help(_ command: Grammar.Command?) -> Failure {
    var help = Failure(.usage, "help", Usage.text(for: command))
    help.isHelp = true
    return help
  }

  init(_ fault: GatewayFault, at address: String) {
    let what = fault.description(at: address.plain)
    switch fault {
    case .unreachable: self.init(.unavailable, "unreachable", what + "; see pushhost doctor")
    case .rejected(let rejection) where rejection.reason == "refused_proof":
      self.init(.refused, rejection.reason, what + "; see pushhost doctor")
    case .rejected(let rejection): self.init(.refused, rejection.reason, what)
    case .throttled: self.init(.throttled, "throttled", what)
    }
  }

  init(_ fault: StateFault) { self.init(.state, "state", fault.description) }
}
