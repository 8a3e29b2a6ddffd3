import Json
import Testing

@testable import PushHost

@Suite struct CallTests {
  private let gateway = PlayedGateway(clock: ManualClock().clock)
  private let client: GatewayClient

  init() { client = gateway.client() }

  private static let android = PhoneToken.android(String(repeating: "a", count: 40))
  private static let alert = PushNotification(seq: 1, epoch: "e-1", source: .plugin, title: "Build")

  @Test func `Phones are registered, listed and deleted`() async throws {
    let id = try await client.register(deviceId: "my-phone", token: Self.android).get()
    let iphone = try await client.register(deviceId: "other", token: .ios("aabb", .sandbox)).get()
    #expect(
      gateway.bodies("POST /v1/devices") == [
        .object([
          "v": .integer(1), "deviceId": .string("my-phone"), "platform": .string("android"),
          "token": .string(String(repeating: "a", count: 40)),
        ]),
        .object([
          "v": .integer(1), "deviceId": .string("other"), "platform": .string("ios"),
          "token": .string("aabb"),
          "apnsEnvironment": .string("sandbox"),
        ]),
      ])
    gateway.state.withLock { $0.statuses[iphone] = "dead" }
    #expect(
      try await client.devices().get() == [
        ListedPhone(registrationId: id, deviceId: "my-phone", platform: "android", isDead: false),
        ListedPhone(registrationId: iphone, deviceId: "other", platform: "ios", isDead: true),
      ])
    #expect(try await client.unregister(id).get() == true)
    #expect(try await client.unregister(id).get() == false)
    #expect(try await client.devices().get().map(\.registrationId) == [iphone])
  }

  @Test func `A send says what became of each recipient`() async throws {
    gateway.state.withLock {
      $0.statuses = ["b": "dead", "c": "rate_limited", "d": "error", "e": "later-word"]
    }
    let results = try await client.send(Self.alert, to: ["a", "b", "c", "d", "e"]).get()
    #expect(results.map(\.status) == [.queued, .dead, .rateLimited, .error, .error])
    #expect(results.map(\.registrationId) == ["a", "b", "c", "d", "e"])
  }

  @Test func `A notification is written as the contract has it`() async throws {
    var alert = PushNotification(
      id: "run-17", seq: 3, epoch: "e-1", source: .agentTaskComplete, title: "Titel", body: "Text")
    alert.agentState = .needsInput
    alert.worktreeId = "wt"
    alert.paneKey = "pane"
    alert.executionHost = "runtime:here"
    alert.expiresAt = 5
    alert.sound = false
    _ = try await client.send(alert, to: ["a"]).get()
    _ = try await client.send(alert.dismissal(seq: 4), to: ["a"]).get()
    _ = try await client.send(Self.alert, to: ["a"]).get()
    let sent = gateway.bodies("POST /v1/send").map {
      $0["notification"].map { String(decoding: JsonText.render($0), as: UTF8.self) }
    }
    #expect(
      sent == [
        """
        {"notificationId":"run-17","notificationSeq":3,"notificationEpoch":"e-1","source":"agent-task-complete",\
        "agentState":"needs-input","title":"Titel","body":"Text","worktreeId":"wt","paneKey":"pane",\
        "executionHost":"runtime:here","expiresAt":5,"sound":false}
        """,
        """
        {"kind":"dismiss","notificationId":"run-17","notificationSeq":4,"notificationEpoch":"e-1",\
        "source":"agent-task-complete","agentState":"needs-input","title":"Titel","body":"Text","worktreeId":"wt",\
        "paneKey":"pane","executionHost":"runtime:here"}
        """,
        """
        {"notificationSeq":1,"notificationEpoch":"e-1","source":"plugin","agentState":null,"title":"Build","body":""}
        """,
      ])
  }

  @Test func `What the contract forbids is refused here, by its member's name`() async {
    var long = Self.alert
    long.title = String(repeating: "x", count: 81)
    let noId = Self.alert.dismissal(seq: 2)
    let faults = [
      await client.send(long, to: ["a"]).failure, await client.send(Self.alert, to: []).failure,
      await client.send(Self.alert, to: (0..<21).map { "r\($0)" }).failure,
      await client.send(noId, to: ["a"]).failure,
      await client.register(deviceId: "", token: Self.android).failure,
      await client.register(deviceId: "a", token: .ios("xyz", .production)).failure,
    ]
    let details = faults.map { fault in
      guard case .rejected(let why) = fault, why.reason == "invalid_request", why.status == nil
      else {
        return "\(fault as Any)"
      }
      return why.detail ?? ""
    }
    #expect(
      details == [
        "notification.title must have 1 to 80 characters",
        "registrationIds must be a list of 1 to 20 ids",
        "registrationIds must be a list of 1 to 20 ids",
        "notification.notificationId is missing: a dismissal needs it",
        "deviceId must have 1 to 128 characters",
        "token must be an even number of hex digits, 2 to 4096",
      ])
    #expect(gateway.routes.isEmpty)
  }

  @Test(arguments: [
    (
      400, #"{"error":"invalid_request","detail":"title is missing"}"#, "invalid_request",
      "title is missing"
    ),
    (403, "<html>", "http", nil),
    (405, #"{"error":"method_not_allowed"}"#, "method_not_allowed", nil),
    (409, #"{"error":"too_many_devices"}"#, "too_many_devices", nil),
    (413, #"{"error":"request_too_large"}"#, "request_too_large", nil),
    (418, #"{"error":"\u001b[31m"}"#, "http", nil),
    (400, #"{"error":"invalid_request","detail":"a\nb"}"#, "invalid_request", nil),
    (308, "", "redirect", "redirects are not followed"),
  ])
  func `A refusal says its reason, and nothing that could not be printed`(
    status: Int, body: String, reason: String, detail: String?
  ) async {
    gateway.play("POST /v1/devices", .reply(HttpReply(status: status, body: Array(body.utf8))))
    let answer = await client.register(deviceId: "a", token: Self.android)
    #expect(answer.failure == .rejected(Rejection(status: status, reason: reason, detail: detail)))
  }

  @Test(arguments: [
    (500, #"{"error":"internal"}"#, Unreachable.serverFault(status: 500, code: "internal")),
    (503, #"{"error":"busy"}"#, .serverFault(status: 503, code: "busy")),
    (502, "", .serverFault(status: 502, code: nil)),
    (200, "", .garbled), (200, "[]", .garbled), (200, "{}", .garbled),
    (200, #"{"registrationId":5}"#, .garbled),
    (200, #"{"registrationId":""}"#, .garbled), (204, "", .garbled), (101, "", .garbled),
    (600, "", .garbled),
  ])
  func `An answer that no gateway gives, or that speaks of its own trouble, counts as none`(
    status: Int, body: String, how: Unreachable
  ) async {
    gateway.play("POST /v1/devices", .reply(HttpReply(status: status, body: Array(body.utf8))))
    #expect(await client.register(deviceId: "a", token: Self.android).failure == .unreachable(how))
  }

  @Test(arguments: [
    #"{"results":[{"registrationId":"other","status":"queued"}]}"#,
    #"{"results":[{"registrationId":"a"}]}"#,
    #"{"results":{}}"#, #"{"results":[1]}"#,
  ])
  func `Results for others than were asked for are no answer`(body: String) async {
    gateway.play("POST /v1/send", .reply(HttpReply(status: 200, body: Array(body.utf8))))
    #expect(await client.send(Self.alert, to: ["a"]).failure == .unreachable(.garbled))
  }

  @Test func `What became of a push is told as the gateway tells it`() async throws {
    let route = "GET /v1/deliveries?notificationEpoch=e%2B1&notificationSeq=7"
    let body = #"""
      {"deliveries":[{"kind":"alert","registrationId":"r1","platform":"ios","state":"sent","attempts":2,"unknownOutcomes":0,
      "providerId":"p","queuedAt":1,"finishedAt":5,"deadline":9},{"kind":"dismiss","state":"waiting","waitsFor":"retry",
      "reason":"InternalServerError","detail":"d","attempts":1,"unknownOutcomes":0,"queuedAt":1,"deadline":9,"later":true}]}
      """#
    let garbled = HttpReply(status: 200, body: Array(#"{"deliveries":[{"kind":"alert"}]}"#.utf8))
    gateway.play(
      route, .reply(HttpReply(status: 200, body: Array(body.utf8))), .reply(.error(404, "not_found")), .reply(garbled),
      .reply(HttpReply(status: 404)))
    let number = EventNumber(epoch: "e+1", seq: 7)
    let found = try await client.deliveries(of: number).get()
    #expect(found.map(\.state) == ["sent", "waiting"])
    #expect(found.map(\.hasEnded) == [true, false])
    #expect(found.map(\.isDismissal) == [false, true])
    #expect(found.map(\.attempts) == [2, 1])
    #expect(found[0].providerId == "p" && found[0].registrationId == "r1" && found[1].reason == "InternalServerError")
    #expect(try await client.deliveries(of: number).get().isEmpty)
    #expect(await client.deliveries(of: number).failure == .unreachable(.garbled))
    // Something else than a gateway says 404 too.
    #expect(await client.deliveries(of: number).failure == .rejected(Rejection(status: 404, reason: "http")))
  }

  @Test func `An id cannot lead to another path`() async {
    _ = await client.unregister("../host/challenge?x=ü%2e")
    #expect(gateway.routes.last == "DELETE /v1/devices/%2E%2E%2Fhost%2Fchallenge%3Fx%3D%C3%BC%252e")
  }

  @Test func `Tokens and texts print nowhere`() {
    let secret = "secret-words"
    var alert = Self.alert
    alert.title = secret
    alert.body = secret
    let token = PhoneToken.android(secret)
    let keys = HostKeys.generate()
    var dumped = ""
    dump(alert, to: &dumped)
    dump(token, to: &dumped)
    dump(keys, to: &dumped)
    let all =
      "\(alert)\(token)\(keys)\(String(reflecting: alert))\(String(reflecting: token))\(dumped)"
    #expect(!all.contains(secret))
    #expect(!all.contains(keys.fingerprint))
  }
}

extension Result {
  /// The failure, if it is one.
  var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
