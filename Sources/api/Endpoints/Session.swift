internal import Contract
internal import Http
internal import Json
internal import Loop
internal import Proof
internal import Stores

/// `POST /v1/host/session`: a bearer token for whoever solved the riddle.
@LoopActor
struct SessionEndpoint {
  let callers: Callers
  let database: Database
  let sessions: SessionCache

  func post(_ request: HttpRequest) async throws(Problem) -> HttpResponse {
    try callers.admitUnproven(request)
    let body = try request.read(SessionRequest.init)
    let challenge = try await database.call { store throws(StoreFailure) in
      try await store.challenge(id: body.challengeId)
    }
    guard let challenge else { throw .invalidChallenge }
    guard let digest = ProofDigest(stored: challenge.proofDigest) else { throw .internalFault("stored proof digest") }
    // A wrong proof leaves the challenge open for the right one.
    guard digest.matches(body.proof), challenge.isOpen else { throw .invalidProof }
    let token = SessionToken.make()
    // Whatever comes of it: should the answer be lost, the host's earlier session may have ended all the same.
    defer { sessions.forget(challenge.fingerprint) }
    let expiresAt = try await database.call { store throws(StoreFailure) in
      try await store.openSession(challengeId: body.challengeId, tokenDigest: SessionToken.digest(token))
    }
    guard let expiresAt else { throw .invalidProof }
    return .json {
      $0.member("sessionToken", token)
      $0.member("expiresAt", expiresAt)
      $0.member("hostFingerprint", challenge.fingerprint.text)
    }
  }
}
