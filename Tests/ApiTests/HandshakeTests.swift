import Contract
import Foundation
import Json
import Proof
import Testing

/// Contract, "Host authentication"; rulings 2.
@Suite struct HandshakeTests {
  @Test(arguments: StoreKind.allCases)
  func `A host that solves its challenge gets a session, in exactly the contract's words`(on kind: StoreKind)
    async throws
  {
    try await kind.use { gateway in
      let keys = HostKeyPair.generate()
      let before = Int64(Date().timeIntervalSince1970 * 1000)
      let challenge = try await gateway.ask(.post("/v1/host/challenge", Body.challenge(keys.publicKey.base64)))
      #expect(
        challenge.members == ["challengeId", "gatewayEphemeralPublicKeyB64", "nonceB64", "ciphertextB64", "expiresAt"])
      #expect(challenge.headers["content-type"] == "application/json; charset=utf-8")
      #expect(challenge.headers["cache-control"] == "no-store")
      let expiresAt = try #require(challenge.json?["expiresAt"]?.integer)
      #expect((before + 10_000...before + 20_000).contains(expiresAt))
      let session = try await gateway.ask(.post("/v1/host/session", try await gateway.solve(keys)))
      #expect(session.members == ["sessionToken", "expiresAt", "hostFingerprint"])
      #expect(session.json?["hostFingerprint"]?.string == keys.publicKey.fingerprint.text)
      let token = try #require(session.json?["sessionToken"]?.string)
      #expect(Base64Url.decode(token)?.count == 32)
      let end = try #require(session.json?["expiresAt"]?.integer)
      #expect((before + 86_400_000...before + 86_430_000).contains(end))
      #expect(try await gateway.ask(.get("/v1/devices", bearer: token)).status == 200)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Of many right proofs at once one wins, and the challenge is spent`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let other = try await gateway.another()
      let proof = try await gateway.solve(.generate())
      let replies = try await Gateway.ask(
        (0..<12).map { ($0.isMultiple(of: 2) ? gateway : other, .post("/v1/host/session", proof)) })
      #expect(replies.filter { $0.status == 200 }.count == 1)
      #expect(replies.filter { $0.verdict == "401 invalid_proof" }.count == 11)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A wrong proof does not spend the challenge, an unknown challenge is said to be one`(on kind: StoreKind)
    async throws
  {
    try await kind.use { gateway in
      let right = try await gateway.solve(.generate())
      let id = try #require(right["challengeId"]?.string)
      let wrong = Body.session(id, Base64.encode([UInt8](repeating: 7, count: 32)))
      #expect(try await gateway.ask(.post("/v1/host/session", wrong)).verdict == "401 invalid_proof")
      let unknown = Body.session("nobody's", Base64.encode([UInt8](repeating: 7, count: 32)))
      #expect(try await gateway.ask(.post("/v1/host/session", unknown)).verdict == "401 invalid_challenge")
      #expect(try await gateway.ask(.post("/v1/host/session", right)).status == 200)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A right proof that comes late is no proof`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let right = try await gateway.solve(.generate())
      try await gateway.place.script("update push_challenges set expires_at = expires_at - 20000")
      #expect(try await gateway.ask(.post("/v1/host/session", right)).verdict == "401 invalid_proof")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A challenge of one process is answered at another`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let other = try await gateway.another()
      let proof = try await gateway.solve(.generate())
      let reply = try await other.ask(.post("/v1/host/session", proof))
      let token = try #require(reply.json?["sessionToken"]?.string)
      #expect(try await gateway.ask(.get("/v1/devices", bearer: token)).status == 200)
    }
  }
}
