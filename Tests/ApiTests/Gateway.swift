import Contract
import Foundation
import Json
import Proof
import Testing

/// A running api, as hosts reach it.
struct Gateway: Sendable {
  static let origin = "https://push.test.example"

  let place: Place
  let process: ApiProcess
  let port: Int

  /// Starts one and waits until it serves.
  static func start(on place: Place, _ more: [String: String] = [:]) async throws -> Gateway {
    let process = try place.start(more)
    return Gateway(place: place, process: process, port: try await process.port())
  }

  /// Another process on the same database.
  func another() async throws -> Gateway { try await Gateway.start(on: place) }

  func ask(_ ask: Ask) async throws -> Reply { try await ask.send(to: port) }

  /// Asks many at once; the replies in the order of the requests.
  static func ask(_ asks: [(gateway: Gateway, ask: Ask)], at once: Int = 16) async throws -> [Reply] {
    try await withThrowingTaskGroup(of: (Int, Reply).self) { group in
      var replies = [Reply?](repeating: nil, count: asks.count)
      var next = 0
      func start() {
        guard next < asks.count else { return }
        let place = next
        next += 1
        group.addTask { (place, try await asks[place].gateway.ask(asks[place].ask)) }
      }
      for _ in 0..<once { start() }
      while let (place, reply) = try await group.next() {
        replies[place] = reply
        start()
      }
      return replies.compactMap { $0 }
    }
  }

  // MARK: Hosts

  /// Asks for a challenge and solves it.
  func solve(_ keys: HostKeyPair) async throws -> JsonValue {
    let reply = try await ask(.post("/v1/host/challenge", Body.challenge(keys.publicKey.base64)))
    try #require(reply.status == 200, "\(reply.text)")
    let json = try #require(reply.json)
    let offer = try ChallengeOffer(
      challengeId: try #require(json["challengeId"]?.string),
      gatewayEphemeralPublicKeyB64: try #require(json["gatewayEphemeralPublicKeyB64"]?.string),
      nonceB64: try #require(json["nonceB64"]?.string), ciphertextB64: try #require(json["ciphertextB64"]?.string),
      expiresAt: try #require(json["expiresAt"]?.integer))
    let now = Int64(Date().timeIntervalSince1970 * 1000)
    let proof = try HostProof.answer(offer, origin: Self.origin, keys: keys, now: now)
    return Body.session(offer.challengeId, Base64.encode(proof))
  }

  /// A bearer for the host of these keys.
  func bearer(_ keys: HostKeyPair = .generate()) async throws -> String {
    let reply = try await ask(.post("/v1/host/session", try await solve(keys)))
    try #require(reply.status == 200, "\(reply.text)")
    return try #require(reply.json?["sessionToken"]?.string)
  }

  /// Registers a phone; its registration id.
  func phone(_ bearer: String, _ deviceId: String = "phone") async throws -> String {
    let reply = try await ask(.post("/v1/devices", Body.device(deviceId), bearer: bearer))
    try #require(reply.status == 200, "\(reply.text)")
    return try #require(reply.json?["registrationId"]?.string)
  }

  /// Sends; what became of each registration, in order.
  func send(_ bearer: String, _ ids: [String], _ notification: JsonValue) async throws -> [String] {
    let reply = try await ask(.post("/v1/send", Body.send(ids, notification), bearer: bearer))
    try #require(reply.status == 200, "\(reply.text)")
    return reply.results
  }
}

extension Reply {
  /// The statuses of a send's results, in order.
  var results: [String] { json?["results"]?.array?.compactMap { $0["status"]?.string } ?? [] }
}

/// Bodies that are in order.
enum Body {
  static func challenge(_ key: String = "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=") -> JsonValue {
    .object(["v": .integer(1), "hostPublicKeyB64": .string(key)])
  }

  static func session(_ challengeId: String, _ proof: String) -> JsonValue {
    .object(["v": .integer(1), "challengeId": .string(challengeId), "proofB64": .string(proof)])
  }

  static func device(_ deviceId: String, token: String = "aabb") -> JsonValue {
    .object([
      "v": .integer(1), "deviceId": .string(deviceId), "platform": .string("ios"), "token": .string(token),
      "apnsEnvironment": .string("production"),
    ])
  }

  static func send(_ ids: [String], _ notification: JsonValue) -> JsonValue {
    .object([
      "v": .integer(1), "registrationIds": .array(ids.map { .string($0) }), "notification": notification,
    ])
  }

  static func notification(
    _ seq: Int64, kind: String? = nil, title: String = "Build", sound: Bool? = nil, expiresAt: Int64? = nil
  ) -> JsonValue {
    var members: [(key: String, value: JsonValue)] = [
      ("notificationId", .string("n-\(seq)")), ("notificationSeq", .integer(seq)),
      ("notificationEpoch", .string("e-1")), ("source", .string("plugin")), ("agentState", .null),
      ("title", .string(title)), ("body", .string("")),
    ]
    if let kind { members.append(("kind", .string(kind))) }
    if let sound { members.append(("sound", .bool(sound))) }
    if let expiresAt { members.append(("expiresAt", .integer(expiresAt))) }
    return .object(JsonObject(members))
  }
}
