internal import Contract
internal import Json
internal import Proof

extension HttpReply {
  /// The proof that answers this challenge, and the challenge's id.
  ///
  /// Every field of the sealed transcript is held against what this host knows by itself; a transcript that differs is
  /// a refused proof, since it would vouch for something else.
  func answer(origin: String, keys: HostKeys, now: Int64) throws(GatewayFault) -> (challengeId: String, proof: [UInt8])
  {
    let reply = try members()
    try reply.only(["challengeId", "gatewayEphemeralPublicKeyB64", "nonceB64", "ciphertextB64", "expiresAt"])
    let challengeId = try reply.text("challengeId")
    guard OpaqueId.isValid(challengeId) else { throw .unreachable(.garbled) }
    let ephemeral = try reply.text("gatewayEphemeralPublicKeyB64")
    let nonce = try reply.text("nonceB64")
    let ciphertext = try reply.text("ciphertextB64", limit: 8_192)
    let expiresAt = try reply.integer("expiresAt")
    do throws(HostProofFault) {
      let offer = try ChallengeOffer(
        challengeId: challengeId, gatewayEphemeralPublicKeyB64: ephemeral, nonceB64: nonce, ciphertextB64: ciphertext,
        expiresAt: expiresAt)
      return (challengeId, try HostProof.answer(offer, origin: origin, keys: keys.pair, now: now))
    } catch {
      if case .reply = error { throw .unreachable(.garbled) }
      throw .rejected(Rejection(reason: "refused_proof", detail: error.description))
    }
  }

  /// The session in the answer to a proof.
  func session(origin: String, keys: HostKeys, now: Int64) throws(GatewayFault) -> HostSession {
    let reply = try members()
    try reply.only(["sessionToken", "expiresAt", "hostFingerprint"])
    let token = try reply.text("sessionToken")
    let expiresAt = try reply.integer("expiresAt")
    guard let bytes = Base64Url.decode(token), bytes.count == 32,
      try reply.text("hostFingerprint").utf8.elementsEqual(keys.fingerprint.utf8)
    else { throw .unreachable(.garbled) }
    let session = HostSession(token: token, origin: origin, host: keys.fingerprint, expiresAt: expiresAt)
    guard session.isFresh(at: now) else {
      throw .rejected(
        Rejection(
          reason: "refused_proof", detail: "the session ends within a minute: this machine's clock may be wrong"))
    }
    return session
  }
}
