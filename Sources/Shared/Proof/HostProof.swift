internal import Contract

/// The host's side: from a challenge to the proof that it holds its secret key (contract, "Host authentication").
package enum HostProof {
  /// How far the gateway's clock may be from the host's, in ms. The gateway allows nothing of the kind.
  package static let clockSkew: Int64 = 30_000

  /// The 32-byte proof for `POST /v1/host/session`.
  ///
  /// Opens the box and checks each field of its transcript against what this host knows by itself or was told in the
  /// reply, so that no gateway can have it vouch for another gateway, host, key or time.
  ///
  /// - Parameters:
  ///   - origin: the gateway's origin as this host dials it, compared byte for byte.
  ///   - now: this host's clock, ms since 1970.
  package static func answer(
    _ offer: ChallengeOffer, origin: String, keys: HostKeyPair, now: Int64
  ) throws(HostProofFault) -> [UInt8] {
    guard
      let plaintext = Sodium.open(
        offer.ciphertext, nonce: offer.nonce, from: offer.gatewayEphemeralPublicKey, to: keys.secretKey)
    else { throw .unopened }
    guard plaintext.starts(with: HostChallenge.prefix) else { throw .notAChallenge }
    var rest = plaintext.dropFirst(HostChallenge.prefix.count)
    guard let encoded = takeCounted(&rest), rest.count == HostChallenge.secretLength else { throw .notAChallenge }
    let transcript = try Transcript(decoding: Array(encoded))
    try check(transcript, offer: offer, origin: origin, hostKey: keys.publicKey, now: now)
    return HostChallenge.proof(of: Array(encoded), secret: Array(rest))
  }

  private static func check(
    _ transcript: Transcript, offer: ChallengeOffer, origin: String, hostKey: HostKey, now: Int64
  ) throws(HostProofFault) {
    // Only the hour of issue is the gateway's to say; all else this host can write down by itself.
    let expected = Transcript(
      gatewayOrigin: origin, gatewayEphemeralPublicKey: offer.gatewayEphemeralPublicKey,
      challengeNonce: offer.nonce, challengeId: offer.challengeId, issuedAt: transcript.time(.issuedAt) ?? 0,
      expiresAt: UInt64(clamping: offer.expiresAt), hostKey: hostKey)
    for field in TranscriptField.allCases where !Sodium.equal(transcript[field], expected[field]) {
      throw .refused(field)
    }
    guard let issuedAt = transcript.time(.issuedAt), issuedAt <= UInt64(clamping: now + clockSkew)
    else { throw .refused(.issuedAt) }
    guard let expiresAt = transcript.time(.expiresAt), expiresAt > issuedAt,
      expiresAt >= UInt64(clamping: now - clockSkew)
    else { throw .refused(.expiresAt) }
    // A challenge is made when it is asked for: an old one was made for somebody else's use.
    guard issuedAt >= UInt64(clamping: now - clockSkew - Limits.challengeLife) else { throw .refused(.issuedAt) }
  }
}
