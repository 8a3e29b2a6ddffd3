internal import Contract
internal import Http
internal import Json
internal import Keys
internal import Loop
internal import Proof
internal import Stores

/// `POST /v1/host/challenge`: a riddle that only the holder of the host's secret key can solve.
@LoopActor
struct ChallengeEndpoint {
  let callers: Callers
  let database: Database
  /// The gateway's own origin, which the host compares with the one it dialled.
  let origin: String

  func post(_ request: HttpRequest) async throws(Problem) -> HttpResponse {
    try callers.admitUnproven(request)
    let body = try request.read(ChallengeRequest.init)
    guard let key = HostKey(bytes: body.hostPublicKey) else {
      throw .invalidRequest("hostPublicKeyB64 must not be a point of low order")
    }
    let now = WallClock.milliseconds
    let challenge = HostChallenge.make(
      hostKey: key, origin: origin, challengeId: Base64Url.encode(SecureRandom.bytes(32)), issuedAt: now,
      expiresAt: now + Limits.challengeLife)
    let offer = challenge.offer
    try await database.call { store throws(StoreFailure) in
      try await store.saveChallenge(
        id: offer.challengeId, fingerprint: key.fingerprint, proofDigest: challenge.proofDigest.bytes)
    }
    return .json {
      $0.member("challengeId", offer.challengeId)
      $0.member("gatewayEphemeralPublicKeyB64", offer.gatewayEphemeralPublicKeyB64)
      $0.member("nonceB64", offer.nonceB64)
      $0.member("ciphertextB64", offer.ciphertextB64)
      $0.member("expiresAt", offer.expiresAt)
    }
  }
}
