import Contract
import Foundation
import Json

@testable import Proof
@testable import PushHost

/// Plays a gateway: real challenges and sessions, and whatever else a test wants said.
final class PlayedGateway: Transport {
  /// What becomes of a call.
  enum Play: Sendable {
    case reply(HttpReply)
    case unreachable(Unreachable)
    /// The gateway's own answer.
    case own
  }

  struct State {
    var calls: [HttpCall] = []
    var sessions: Set<String> = []
    var proofs: [String: [UInt8]] = [:]
    var plays: [String: [Play]] = [:]
    var holds: [CheckedContinuation<Void, Never>] = []
    var isHolding = false
    var watchers: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
    var tamper: (@Sendable (inout Transcript) -> Void)?
    var rename: (@Sendable (inout JsonObject) -> Void)?
    var sessionLife = Limits.sessionLife
    var devices: [(id: String, deviceId: String, platform: String)] = []
    var statuses: [String: String] = [:]
  }

  let origin: String
  let clock: HostClock
  let state = Guarded(State())

  init(origin: String = "https://push.test.example", clock: HostClock) {
    self.origin = origin
    self.clock = clock
  }

  /// Puts answers in line for calls of "METHOD /path"; after the last one the gateway answers by itself again.
  func play(_ route: String, _ plays: Play...) {
    state.withLock { $0.plays[route, default: []] += plays }
  }

  /// The calls so far, as "METHOD /path".
  var routes: [String] { state.withLock { $0.calls.map { "\($0.method) \($0.path)" } } }

  func count(_ route: String) -> Int { routes.filter { $0 == route }.count }

  /// The bodies of the calls to a route.
  func bodies(_ route: String) -> [JsonValue] {
    state.withLock { state in
      state.calls.filter { "\($0.method) \($0.path)" == route }.compactMap {
        try? JsonReader.read($0.body ?? [])
      }
    }
  }

  /// Ends all sessions that were given.
  func endSessions() { state.withLock { $0.sessions = [] } }

  /// Waits until so many calls have come.
  func calls(_ count: Int) async {
    await withCheckedContinuation { wake in
      let isThere = state.withLock { state in
        if state.calls.count >= count { return true }
        state.watchers.append((count, wake))
        return false
      }
      if isThere { wake.resume() }
    }
  }

  /// From now on calls wait until `release`.
  func hold() { state.withLock { $0.isHolding = true } }

  func release() {
    let holds = state.withLock { state in
      state.isHolding = false
      defer { state.holds = [] }
      return state.holds
    }
    for hold in holds { hold.resume() }
  }

  func exchange(_ call: HttpCall, deadline: Int64) async -> Result<HttpReply, Unreachable> {
    let watchers = state.withLock { state in
      state.calls.append(call)
      let ready = state.watchers.filter { $0.count <= state.calls.count }
      state.watchers.removeAll { $0.count <= state.calls.count }
      return ready
    }
    for watcher in watchers { watcher.wake.resume() }
    await withCheckedContinuation { hold in
      let isHeld = state.withLock { state in
        if state.isHolding { state.holds.append(hold) }
        return state.isHolding
      }
      if !isHeld { hold.resume() }
    }
    return answer(call)
  }

  func answer(_ call: HttpCall) -> Result<HttpReply, Unreachable> {
    let play = state.withLock { state -> Play in
      let route = "\(call.method) \(call.path)"
      guard var plays = state.plays[route], !plays.isEmpty else { return .own }
      let play = plays.removeFirst()
      state.plays[route] = plays
      return play
    }
    switch play {
    case .reply(let reply): return .success(reply)
    case .unreachable(let how): return .failure(how)
    case .own: return .success(own(call))
    }
  }

  private func own(_ call: HttpCall) -> HttpReply {
    let body = (try? JsonReader.read(call.body ?? [])) ?? .null
    switch call.path {
    case "/v1/host/challenge": return challenge(body)
    case "/v1/host/session": return session(body)
    default: break
    }
    guard let bearer = call.bearer, state.withLock({ $0.sessions.contains(bearer) }) else {
      return .error(401, "invalid_token")
    }
    switch (call.method, call.path) {
    case ("POST", "/v1/devices"): return device(body)
    case ("GET", "/v1/devices"): return list()
    case ("POST", "/v1/send"): return send(body)
    case ("DELETE", _): return delete(String(call.path.dropFirst("/v1/devices/".count)))
    default: return .error(404, "not_found")
    }
  }

  private func challenge(_ body: JsonValue) -> HttpReply {
    guard let key = (body["hostPublicKeyB64"]?.string).flatMap(HostKey.init(base64:)) else {
      return .error(400, "invalid_request")
    }
    let (now, id) = (clock.wall(), "challenge-\(UUID().uuidString)")
    let secret = Sodium.random(32)
    let ephemeral = Sodium.random(32)
    let nonce = Sodium.random(24)
    var transcript = Transcript(
      gatewayOrigin: origin, gatewayEphemeralPublicKey: Sodium.publicKey(of: ephemeral),
      challengeNonce: nonce,
      challengeId: id, issuedAt: UInt64(now), expiresAt: UInt64(now + 10_000), hostKey: key)
    state.withLock { $0.tamper }?(&transcript)
    var plaintext = HostChallenge.prefix
    appendCounted(transcript.encoded, to: &plaintext)
    let box = Sodium.seal(plaintext + secret, nonce: nonce, to: key.bytes, from: ephemeral) ?? []
    state.withLock { $0.proofs[id] = HostChallenge.proof(of: transcript.encoded, secret: secret) }
    var reply: JsonObject = [
      "challengeId": .string(id),
      "gatewayEphemeralPublicKeyB64": .string(Base64.encode(Sodium.publicKey(of: ephemeral))),
      "nonceB64": .string(Base64.encode(nonce)), "ciphertextB64": .string(Base64.encode(box)),
      "expiresAt": .integer(now + 10_000),
    ]
    state.withLock { $0.rename }?(&reply)
    return .json(200, .object(reply))
  }

  private func session(_ body: JsonValue) -> HttpReply {
    guard let id = body["challengeId"]?.string, let proof = body["proofB64"]?.string,
      let wanted = state.withLock({ $0.proofs.removeValue(forKey: id) }),
      Base64.encode(wanted) == proof
    else { return .error(401, "invalid_proof") }
    let token = Base64Url.encode(Sodium.random(32))
    let life = state.withLock { state in
      // A host has one session.
      state.sessions = [token]
      return state.sessionLife
    }
    return .json(
      200,
      .object([
        "sessionToken": .string(token), "expiresAt": .integer(clock.wall() + life),
        "hostFingerprint": .string(fingerprint),
      ]))
  }

  /// The one host that this gateway knows.
  var fingerprint: String { Self.keys.fingerprint }
  static let keys = HostKeys.generate()

  /// A session that ends in an hour.
  func session(_ token: String) -> HostSession {
    HostSession(
      token: token, origin: origin, host: fingerprint, expiresAt: clock.wall() + 3_600_000)
  }

  /// A client of it.
  func client(_ shelf: (any SessionShelf)? = nil) -> GatewayClient {
    GatewayClient(origin: origin, keys: Self.keys, transport: self, shelf: shelf, clock: clock)
  }

  // MARK: Phones

  private func device(_ body: JsonValue) -> HttpReply {
    guard let request = try? DeviceRequest(body) else { return .error(400, "invalid_request") }
    return state.withLock { state in
      let known = state.devices.first { $0.deviceId == request.deviceId }
      let id = known?.id ?? "r\(state.devices.count + 1)"
      if known == nil {
        state.devices.append((id, request.deviceId, request.route.platform.rawValue))
      }
      return .json(200, .object(["registrationId": .string(id)]))
    }
  }

  private func list() -> HttpReply {
    let rows = state.withLock { state in
      state.devices.map { device in
        JsonValue.object([
          "registrationId": .string(device.id), "deviceId": .string(device.deviceId),
          "platform": .string(device.platform), "dead": .bool(state.statuses[device.id] == "dead"),
        ])
      }
    }
    return .json(200, .object(["devices": .array(rows)]))
  }

  private func delete(_ id: String) -> HttpReply {
    state.withLock { state in
      guard let place = state.devices.firstIndex(where: { $0.id == id }) else {
        return .error(404, "not_found")
      }
      state.devices.remove(at: place)
      return HttpReply(status: 204)
    }
  }

  private func send(_ body: JsonValue) -> HttpReply {
    guard let request = try? SendRequest(body) else { return .error(400, "invalid_request") }
    let statuses = state.withLock { $0.statuses }
    let rows = request.registrationIds.map { id in
      JsonValue.object(["registrationId": .string(id), "status": .string(statuses[id] ?? "queued")])
    }
    return .json(200, .object(["results": .array(rows)]))
  }
}

extension HttpReply {
  static func json(_ status: Int, _ json: JsonValue) -> HttpReply {
    HttpReply(status: status, body: JsonText.render(json))
  }

  static func error(_ status: Int, _ code: String, retryAfter: String? = nil) -> HttpReply {
    HttpReply(status: status, retryAfter: retryAfter, body: Array("{\"error\":\"\(code)\"}".utf8))
  }
}
