/// Why a host does not answer a challenge. It names what is wrong and holds no value.
package enum HostProofFault: Error, Equatable, Sendable {
  /// A member of the gateway's reply has the wrong form; the member's name.
  case reply(String)
  /// The box does not open with this host's secret key, the reply's ephemeral key and its nonce.
  case unopened
  /// What was in the box is no challenge: wrong prefix, or a secret that has not 32 bytes.
  case notAChallenge
  /// The transcript lacks this field where it is due, or breaks off in it.
  case malformed(TranscriptField)
  /// The transcript goes on after its last field.
  case trailingBytes
  /// The transcript's field says something else than this host knows or allows.
  case refused(TranscriptField)
}

extension HostProofFault: CustomStringConvertible {
  /// One line for a log or an operator.
  package var description: String {
    switch self {
    case .reply(let member): "the gateway's \(member) has the wrong form"
    case .unopened: "the challenge was not sealed for this host"
    case .notAChallenge: "what the gateway sealed is no challenge"
    case .malformed(let field): "the transcript has no right \(field.rawValue)"
    case .trailingBytes: "the transcript does not end after its last field"
    case .refused(let field): "the transcript's \(field.rawValue) is not the one due"
    }
  }
}
