/// What the gateway answers to `POST /v1/host/challenge`, and what it keeps (contract, "Host authentication").
package struct HostChallenge: Sendable {
  /// How the sealed plaintext begins.
  static let prefix = Array("orca-push-host-challenge/v1\0".utf8)
  /// How the bytes under the proof's HMAC begin.
  static let acknowledgement = Array("orca-push-host-proof/v1\0ack\0".utf8)
  /// Bytes of the secret that only the host's key can uncover.
  package static let secretLength = 32
  /// Bytes of a crypto_box nonce.
  package static let nonceLength = 24

  /// The half that the host is told.
  package let offer: ChallengeOffer
  /// The half that is stored, and nothing beside it.
  package let proofDigest: ProofDigest

  /// A challenge with a fresh ephemeral key, nonce and secret. Times are ms since 1970.
  package static func make(
    hostKey: HostKey, origin: String, challengeId: String, issuedAt: Int64, expiresAt: Int64
  ) -> HostChallenge {
    make(
      hostKey: hostKey, origin: origin, challengeId: challengeId, issuedAt: issuedAt, expiresAt: expiresAt,
      ephemeralSecretKey: Sodium.random(HostKey.length), nonce: Sodium.random(nonceLength),
      secret: Sodium.random(secretLength))
  }

  /// The challenge that follows from all that a gateway chooses: 32 bytes of ephemeral key, 24 of nonce, 32 of secret.
  package static func make(
    hostKey: HostKey, origin: String, challengeId: String, issuedAt: Int64, expiresAt: Int64,
    ephemeralSecretKey: [UInt8], nonce: [UInt8], secret: [UInt8]
  ) -> HostChallenge {
    precondition(secret.count == secretLength && nonce.count == nonceLength)
    let ephemeralPublicKey = Sodium.publicKey(of: ephemeralSecretKey)
    let transcript = Transcript(
      gatewayOrigin: origin, gatewayEphemeralPublicKey: ephemeralPublicKey, challengeNonce: nonce,
      challengeId: challengeId, issuedAt: UInt64(clamping: issuedAt), expiresAt: UInt64(clamping: expiresAt),
      hostKey: hostKey
    ).encoded
    var plaintext = prefix
    appendCounted(transcript, to: &plaintext)
    plaintext += secret
    guard
      let ciphertext = Sodium.seal(plaintext, nonce: nonce, to: hostKey.bytes, from: ephemeralSecretKey)
    else { preconditionFailure("a HostKey is not of low order") }
    return HostChallenge(
      offer: ChallengeOffer(
        challengeId: challengeId, gatewayEphemeralPublicKey: ephemeralPublicKey, nonce: nonce,
        ciphertext: ciphertext, expiresAt: expiresAt),
      proofDigest: ProofDigest(of: proof(of: transcript, secret: secret)))
  }

  /// HMAC-SHA256(secret, "orca-push-host-proof/v1\0ack\0" || transcript).
  static func proof(of transcript: [UInt8], secret: [UInt8]) -> [UInt8] {
    Sodium.hmacSha256(acknowledgement + transcript, key: secret)
  }
}
