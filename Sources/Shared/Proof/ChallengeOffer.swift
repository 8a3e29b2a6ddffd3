internal import Contract

/// The gateway's reply to `POST /v1/host/challenge`, decoded.
package struct ChallengeOffer: Equatable, Sendable {
  /// The gateway's name for the challenge, opaque to the host.
  package let challengeId: String
  /// The public half of the key pair made for this challenge, 32 bytes.
  package let gatewayEphemeralPublicKey: [UInt8]
  /// The box's nonce, 24 bytes.
  package let nonce: [UInt8]
  /// The box.
  package let ciphertext: [UInt8]
  /// When the gateway stops taking an answer, ms since 1970.
  package let expiresAt: Int64

  init(
    challengeId: String, gatewayEphemeralPublicKey: [UInt8], nonce: [UInt8], ciphertext: [UInt8], expiresAt: Int64
  ) {
    self.challengeId = challengeId
    self.gatewayEphemeralPublicKey = gatewayEphemeralPublicKey
    self.nonce = nonce
    self.ciphertext = ciphertext
    self.expiresAt = expiresAt
  }

  /// Reads the reply's members; throws `.reply` with the first that is no canonical base64 of the right length.
  package init(
    challengeId: String, gatewayEphemeralPublicKeyB64: String, nonceB64: String, ciphertextB64: String,
    expiresAt: Int64
  ) throws(HostProofFault) {
    guard let key = Base64.decode(gatewayEphemeralPublicKeyB64), key.count == HostKey.length
    else { throw .reply("gatewayEphemeralPublicKeyB64") }
    guard let nonce = Base64.decode(nonceB64), nonce.count == HostChallenge.nonceLength
    else { throw .reply("nonceB64") }
    guard let ciphertext = Base64.decode(ciphertextB64) else { throw .reply("ciphertextB64") }
    self.init(
      challengeId: challengeId, gatewayEphemeralPublicKey: key, nonce: nonce, ciphertext: ciphertext,
      expiresAt: expiresAt)
  }

  /// The ephemeral key as the reply carries it.
  package var gatewayEphemeralPublicKeyB64: String { Base64.encode(gatewayEphemeralPublicKey) }
  /// The nonce as the reply carries it.
  package var nonceB64: String { Base64.encode(nonce) }
  /// The box as the reply carries it.
  package var ciphertextB64: String { Base64.encode(ciphertext) }
}
