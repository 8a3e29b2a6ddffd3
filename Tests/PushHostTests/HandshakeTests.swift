import Contract
import Foundation
import Json
import Testing

@testable import Proof
@testable import PushHost

@Suite struct HandshakeTests {
  private let clock = ManualClock()
  private let gateway: PlayedGateway

  init() { gateway = PlayedGateway(clock: clock.clock) }

  @Test(arguments: ProofCase.all)
  func `The proofs that were worked out elsewhere come out of the client`(wanted: ProofCase) throws {
    let secret = try #require(Base64.decode(wanted.hostSecretKeyB64))
    let keys = try #require(HostKeys(secretKey: secret))
    #expect(keys.publicKeyBase64 == wanted.hostPublicKeyB64)
    #expect(keys.fingerprint == wanted.hostFingerprint)
    let reply = HttpReply.json(
      200,
      .object([
        "challengeId": .string(wanted.challengeId),
        "gatewayEphemeralPublicKeyB64": .string(wanted.gatewayEphemeralPublicKeyB64),
        "nonceB64": .string(wanted.nonceB64), "ciphertextB64": .string(wanted.ciphertextB64),
        "expiresAt": .integer(wanted.expiresAt),
      ]))
    let answer = try reply.answer(origin: wanted.gatewayOrigin, keys: keys, now: wanted.issuedAt)
    #expect(answer.challengeId == wanted.challengeId)
    #expect(Base64.encode(answer.proof) == wanted.proofB64)
  }

  @Test(arguments: TranscriptField.allCases)
  func `A transcript that was tampered with in any field is refused, and no proof leaves`(
    field: TranscriptField
  ) async {
    gateway.state.withLock {
      $0.tamper = { transcript in
        var value = transcript[field]
        // A time far ahead; of the rest the last bit.
        if field == .issuedAt || field == .expiresAt {
          value[1] ^= 1
        } else {
          value[value.count - 1] ^= 1
        }
        transcript[field] = value
      }
    }
    let detail = "the transcript's \(field.rawValue) is not the one due"
    let refused = GatewayFault.rejected(Rejection(reason: "refused_proof", detail: detail))
    let client = gateway.client()
    #expect(await client.devices() == .failure(refused))
    #expect(gateway.routes == ["POST /v1/host/challenge"])
    // It is remembered like any refused proof.
    #expect(await client.devices() == .failure(refused))
    #expect(gateway.routes == ["POST /v1/host/challenge"])
  }

  @Test(arguments: [30_000, -30_000] as [Int64])
  func `A clock that is 30 s off is borne with`(shift: Int64) async throws {
    let off = HostClock(
      wall: { clock.now + shift }, uptime: clock.clock.uptime, sleep: clock.clock.sleep)
    let right = GatewayClient(
      origin: gateway.origin, keys: PlayedGateway.keys, transport: gateway, clock: off)
    let wrong = HostClock(
      wall: { clock.now + shift * 2 }, uptime: clock.clock.uptime, sleep: clock.clock.sleep)
    let late = GatewayClient(
      origin: gateway.origin, keys: PlayedGateway.keys, transport: gateway, clock: wrong)
    #expect(try await right.devices().get().isEmpty)
    guard case .failure(.rejected(let why)) = await late.devices() else {
      Issue.record("a wrong clock went through")
      return
    }
    #expect(why.reason == "refused_proof")
    #expect(
      why.detail == "the transcript's \(shift > 0 ? "expiresAt" : "issuedAt") is not the one due")
  }

  @Test(arguments: [
    "challengeId", "gatewayEphemeralPublicKeyB64", "nonceB64", "ciphertextB64", "expiresAt",
    "extra",
  ])
  func `A challenge that lacks a member or has one more is no challenge`(name: String) async {
    gateway.state.withLock {
      $0.rename = { object in
        object =
          name == "extra"
          ? JsonObject(object.members + [("extra", .bool(true))])
          : JsonObject(object.members.filter { $0.key != name })
      }
    }
    #expect(await gateway.client().devices() == .failure(.unreachable(.garbled)))
    #expect(gateway.routes == ["POST /v1/host/challenge"])
  }

  @Test(arguments: [
    "{}", "[]", "null", "", "\u{0}",
    #"{"sessionToken":"short","expiresAt":1,"hostFingerprint":"F"}"#,
    #"{"sessionToken":"TOKEN","expiresAt":9000000000000,"hostFingerprint":"AAAAAAAAAAAAAAAA"}"#,
    #"{"sessionToken":"TOKEN","expiresAt":9000000000000,"hostFingerprint":"F","more":1}"#,
    #"{"sessionToken":"TOKEN","expiresAt":9e12,"hostFingerprint":"F"}"#,
    #"{"sessionToken":"TOKEN","expiresAt":9000000000000,"expiresAt":9000000000000,"hostFingerprint":"F"}"#,
  ])
  func `A session of another form is none`(text: String) async {
    let token = String(repeating: "A", count: 43)
    let body = text.replacing("TOKEN", with: token).replacing(
      "\"F\"", with: "\"\(gateway.fingerprint)\"")
    gateway.play("POST /v1/host/session", .reply(HttpReply(status: 200, body: Array(body.utf8))))
    #expect(await gateway.client().devices() == .failure(.unreachable(.garbled)))
  }

  @Test func `A session that has ended already points at the clock`() async {
    gateway.state.withLock { $0.sessionLife = 60_000 }
    guard case .failure(.rejected(let why)) = await gateway.client().devices() else {
      Issue.record("kept")
      return
    }
    #expect(why.detail?.contains("clock") == true)
  }

  @Test(arguments: [
    ("https://push.example.com", "https://push.example.com"),
    ("HTTPS://Push.Example.COM:443", "https://push.example.com"),
    ("http://127.0.0.1:8080", "http://127.0.0.1:8080"), ("http://localhost", "http://localhost"),
    ("http://[::1]:9", "http://[::1]:9"),
  ])
  func `An address is spelled as the gateway spells it`(text: String, origin: String) async throws {
    let client = try GatewayClient(gateway: text, keys: PlayedGateway.keys)
    #expect(await client.origin == origin)
  }

  @Test(arguments: [
    "", "push.example.com", "http://push.example.com", "https://push.example.com/", "https://a@b",
    "https://a/b",
    "ftp://a",
  ])
  func `An address that is none, or that others could read along, is refused`(text: String) {
    #expect(throws: GatewayAddressFault.self) {
      try GatewayClient(gateway: text, keys: PlayedGateway.keys)
    }
  }
}

/// A challenge worked out by other means, with all that its gateway chose.
struct ProofCase: Decodable, Sendable, CustomTestStringConvertible {
  let hostSecretKeyB64, hostPublicKeyB64, hostFingerprint, gatewayOrigin: String
  let gatewayEphemeralPublicKeyB64, nonceB64, challengeId, ciphertextB64, proofB64: String
  let issuedAt, expiresAt: Int64

  var testDescription: String { challengeId }

  static let all: [ProofCase] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "proofs.json")
    guard let text = try? Data(contentsOf: file) else { return [] }
    return (try? JSONDecoder().decode([ProofCase].self, from: text)) ?? []
  }()
}
