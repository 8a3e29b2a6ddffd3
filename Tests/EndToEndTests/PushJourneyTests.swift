import Foundation
import Json
import Keys
import Testing

/// The way of a push through real programs: from a host's request to what Apple and Google are asked, byte for byte.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PushJourneyTests {
  private static let iphone = String(repeating: "0123456789abcdef", count: 4)
  private static let android = "c0ffee:APA91b" + String(repeating: "x-_7", count: 30)
  private static let epoch = "6b2f4f6e-6a0e-4d8e-8f57-2f8f1f2b9a11"

  @Test(
    "An alert reaches both phones as the contract writes it, and its dismissal follows",
    arguments: Gateway.StoreKind.allCases)
  func alertAndDismissal(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let registrations = try await register(host)
        let deadline = Int64(Date().timeIntervalSince1970 * 1000) + 120_000
        try await send(host, registrations, alert(deadline))
        try await expectAlert(gateway, host, deadline)
        try await send(host, registrations, dismissal)
        try await expectDismissal(gateway, host)
      }
    }
  }

  private func register(_ host: PythonHost) async throws -> [JsonValue] {
    let phones: [JsonObject] = [
      [
        "v": .integer(1), "deviceId": .string("iphone"), "platform": .string("ios"), "token": .string(Self.iphone),
        "apnsEnvironment": .string("production"),
      ],
      [
        "v": .integer(1), "deviceId": .string("android"), "platform": .string("android"),
        "token": .string(Self.android),
      ],
    ]
    var registrations: [JsonValue] = []
    for phone in phones {
      registrations.append(try #require(try await host.post("/v1/devices", .object(phone))["registrationId"]))
    }
    return registrations
  }

  private func send(_ host: PythonHost, _ registrations: [JsonValue], _ notification: JsonObject) async throws {
    let answer = try await host.post(
      "/v1/send",
      .object(["v": .integer(1), "registrationIds": .array(registrations), "notification": .object(notification)]))
    let results = registrations.map { JsonValue.object(["registrationId": $0, "status": .string("queued")]) }
    #expect(answer == .object(["results": .array(results)]))
  }

  private func alert(_ deadline: Int64) -> JsonObject {
    [
      "notificationId": .string("run-17"), "notificationSeq": .integer(1), "notificationEpoch": .string(Self.epoch),
      "source": .string("agent-task-complete"), "agentState": .string("needs-input"),
      "title": .string("Claude needs your input 👩‍👩‍👧"), "body": .string("May I \"run\" the tests?\n"),
      "worktreeId": .string("wt/é"), "expiresAt": .integer(deadline),
    ]
  }

  private var dismissal: JsonObject {
    [
      "kind": .string("dismiss"), "notificationId": .string("run-17"), "notificationSeq": .integer(2),
      "notificationEpoch": .string(Self.epoch), "source": .string("agent-task-complete"), "agentState": .null,
      "title": .string("-"), "body": .string(""),
    ]
  }

  private func expectAlert(_ gateway: Gateway, _ host: PythonHost, _ deadline: Int64) async throws {
    let collapseId = Sha256.hex("[\"\(host.fingerprint)\",\"run-17\"]")
    let apns = try #require(try await gateway.requests("apns", count: 1).first)
    #expect(apns["method"]?.string == "POST")
    #expect(apns["environment"]?.string == "production")
    #expect(apns["path"]?.string == "/3/device/\(Self.iphone)")
    let headers = try #require(apns["headers"])
    #expect(headers["apns-topic"]?.string == "com.stably.orca.mobile")
    #expect(headers["apns-push-type"]?.string == "alert")
    #expect(headers["apns-priority"]?.string == "10")
    #expect(headers["apns-expiration"]?.string == String(deadline / 1000))
    #expect(headers["apns-collapse-id"]?.string == collapseId)
    #expect(
      try #require(headers["apns-id"]?.string).wholeMatch(of: #/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/#) != nil)
    #expect(
      text(apns["body"]) == """
        {"aps":{"alert":{"title":"Claude needs your input 👩‍👩‍👧","body":"May I \\"run\\" the tests?\\n"},"sound":"default",\
        "thread-id":"\(host.fingerprint)"},"orca":{"hostFingerprint":"\(host.fingerprint)","worktreeId":"wt/é",\
        "notificationId":"run-17","notificationSeq":1,"notificationEpoch":"\(Self.epoch)",\
        "source":"agent-task-complete","agentState":"needs-input"}}
        """)

    let fcm = try #require(try await gateway.requests("fcm", count: 1).first)
    #expect(fcm["path"]?.string == "/v1/projects/orca-sandbox/messages:send")
    #expect(fcm["headers"]?["content-type"]?.string == "application/json")
    let ttl = try #require(fcm["body"]?["message"]?["android"]?["ttl"]?.string)
    #expect((60...120).contains(try #require(Int(ttl.dropLast()))), "\(ttl)")
    #expect(
      text(fcm["body"]) == """
        {"message":{"token":"\(Self.android)","notification":{"title":"Claude needs your input 👩‍👩‍👧",\
        "body":"May I \\"run\\" the tests?\\n"},"android":{"priority":"HIGH","ttl":"\(ttl)",\
        "collapse_key":"\(Sha256.hex(collapseId).prefix(32))","notification":{"channel_id":"orca-desktop",\
        "tag":"\(collapseId)"}},"data":{"hostFingerprint":"\(host.fingerprint)","worktreeId":"wt/é",\
        "notificationId":"run-17","notificationSeq":"1","notificationEpoch":"\(Self.epoch)",\
        "source":"agent-task-complete","agentState":"needs-input"}}}
        """)
  }

  private func expectDismissal(_ gateway: Gateway, _ host: PythonHost) async throws {
    let apns = try await gateway.requests("apns", count: 2)
    try #require(apns.count == 2)
    #expect(apns[1]["path"]?.string == "/3/device/\(Self.iphone)")
    #expect(apns[1]["headers"]?["apns-push-type"]?.string == "background")
    #expect(apns[1]["headers"]?["apns-priority"]?.string == "5")
    #expect(apns[1]["headers"]?["apns-collapse-id"] == nil)
    #expect(apns[1]["headers"]?["apns-id"] != apns[0]["headers"]?["apns-id"])
    #expect(
      text(apns[1]["body"]) == """
        {"aps":{"content-available":1},"orca":{"kind":"dismiss","hostFingerprint":"\(host.fingerprint)",\
        "notificationId":"run-17","notificationSeq":2,"notificationEpoch":"\(Self.epoch)",\
        "source":"agent-task-complete","agentState":null}}
        """)

    let fcm = try await gateway.requests("fcm", count: 2)
    try #require(fcm.count == 2)
    let message = try #require(fcm[1]["body"]?["message"])
    #expect(message["notification"] == nil)
    #expect(message["android"]?["notification"] == nil)
    #expect(
      text(message["data"]) == """
        {"kind":"dismiss","hostFingerprint":"\(host.fingerprint)","notificationId":"run-17","notificationSeq":"2",\
        "notificationEpoch":"\(Self.epoch)","source":"agent-task-complete"}
        """)
  }

  private func text(_ json: JsonValue?) -> String {
    json.map { String(decoding: JsonText.render($0), as: UTF8.self) } ?? "nothing"
  }
}
