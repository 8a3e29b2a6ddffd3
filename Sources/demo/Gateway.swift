internal import Contract
internal import Http
internal import Json
internal import Loop
internal import Proof

/// The gateway as a host uses it (contract, "Gateway HTTP API").
@LoopActor
final class Gateway {
  private let origin: String
  private var session: String?

  init(_ origin: String) { self.origin = origin }

  /// Asks for a challenge, answers it, and keeps the session.
  func prove(_ keys: HostKeyPair) async throws {
    let challenge = try await post("/v1/host/challenge") { $0.member("hostPublicKeyB64", keys.publicKey.base64) }
    let offer = try ChallengeOffer(
      challengeId: challenge.text("challengeId"),
      gatewayEphemeralPublicKeyB64: challenge.text("gatewayEphemeralPublicKeyB64"),
      nonceB64: challenge.text("nonceB64"), ciphertextB64: challenge.text("ciphertextB64"),
      expiresAt: challenge["expiresAt"]?.integer ?? 0)
    let proof = try HostProof.answer(offer, origin: origin, keys: keys, now: WallClock.milliseconds)
    let reply = try await post("/v1/host/session") {
      $0.member("challengeId", offer.challengeId)
      $0.member("proofB64", Base64.encode(proof))
    }
    session = try reply.text("sessionToken")
  }

  /// Registers a phone; its registration id.
  func register(_ phone: Phone) async throws -> String {
    let reply = try await post("/v1/devices") {
      $0.member("deviceId", phone.name)
      $0.member("platform", phone.platform.rawValue)
      $0.member("token", phone.token)
      if phone.platform == .ios { $0.member("apnsEnvironment", ApnsEnvironment.production.rawValue) }
    }
    return try reply.text("registrationId")
  }

  /// Sends an event, which must be queued for every registration.
  func send(_ event: Event, to registrations: [String]) async throws {
    let reply = try await post("/v1/send") {
      $0.array("registrationIds") { for registration in registrations { $0.string(registration) } }
      $0.object("notification") {
        if event.kind == .dismiss { $0.member("kind", event.kind.rawValue) }
        $0.member("notificationId", event.id)
        $0.member("notificationSeq", event.seq)
        $0.member("notificationEpoch", event.epoch)
        $0.member("source", Notification.Source.agentTaskComplete.rawValue)
        $0.member("agentState", event.state.rawValue)
        $0.member("title", event.title)
        $0.member("body", event.body)
      }
    }
    let statuses = (reply["results"]?.array ?? []).map { $0["status"]?.string ?? "" }
    guard statuses == registrations.map({ _ in "queued" }) else {
      throw DemoFailure("the gateway said \(statuses.joined(separator: ", ")) to \"\(event.title)\"")
    }
  }

  private func post(_ path: String, _ members: (inout JsonText) -> Void) async throws -> JsonValue {
    var text = JsonText()
    text.object {
      $0.member("v", 1)
      members(&$0)
    }
    var headers: HttpHeaders = ["content-type": "application/json"]
    if let session { headers.add("authorization", "Bearer \(session)") }
    return try await Web.ask("POST", origin + path, headers: headers, body: text.bytes)
  }
}

/// Requests whose answers are JSON.
@LoopActor
enum Web {
  static func ask(
    _ method: String, _ address: String, headers: HttpHeaders = [:], body: [UInt8] = []
  ) async throws -> JsonValue {
    guard let url = Url(address) else { throw DemoFailure("\(address) is no address") }
    let response: HttpResponse
    do throws(Http1Failure) {
      response = try await Http1Client.send(method, url, headers: headers, body: body, deadline: 15_000)
    } catch {
      throw DemoFailure("\(method) \(address) got no answer: \(error)")
    }
    guard response.status == 200 else {
      throw DemoFailure(
        "\(method) \(address) was answered \(response.status): \(String(decoding: response.body, as: UTF8.self))")
    }
    return try JsonReader.read(response.body)
  }
}

extension JsonValue {
  /// A member that must be a text.
  func text(_ name: String) throws -> String {
    guard let text = self[name]?.string else { throw DemoFailure("the answer has no \(name)") }
    return text
  }
}
