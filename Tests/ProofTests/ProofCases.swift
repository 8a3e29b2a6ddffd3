import Contract
import Foundation
import Testing

/// A challenge worked out by other means, with all that its gateway chose.
struct ProofCase: Decodable, Sendable, CustomTestStringConvertible {
  let hostSecretKeyB64, hostPublicKeyB64, hostFingerprint, gatewayOrigin: String
  let gatewayEphemeralSecretKeyB64, gatewayEphemeralPublicKeyB64, nonceB64, challengeSecretB64, challengeId: String
  let issuedAt, expiresAt: Int64
  let transcriptB64, ciphertextB64, proofB64, storedProofDigestB64: String

  var testDescription: String { challengeId }

  static let all: [ProofCase] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "proofs.json")
    guard let text = try? Data(contentsOf: file) else { return [] }
    return (try? JSONDecoder().decode([ProofCase].self, from: text)) ?? []
  }()
}
