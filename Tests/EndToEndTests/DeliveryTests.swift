import Foundation
import Json
import Testing

/// What real providers do to a delivery, through the real programs: faults that pass, and tokens that are gone.
@Suite(.serialized, .timeLimit(.minutes(2))) struct DeliveryTests {
  private static let iphone = String(repeating: "fedcba9876543210", count: 4)
  private static let android = "c0ffee:APA91b" + String(repeating: "Zz_9", count: 30)

  @Test(
    "A passing fault is retried with the same id and body; a gone token is marked dead and not sent to again",
    arguments: Gateway.StoreKind.allCases)
  func retryAndDeath(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await gateway.script(
        #"""
        {"rules": [
          {"token": "\#(Self.iphone)", "provider": "apns", "steps": [{"status": 503, "reason": "ServiceUnavailable"}]},
          {"token": "\#(Self.android)", "provider": "fcm", "steps": [{"status": 404, "reason": "UNREGISTERED"}]}]}
        """#)
      try await PythonHost.run(on: gateway) { host in
        let registrations = try await register(host)
        #expect(try await send(host, registrations, seq: 1) == ["queued", "queued"])

        _ = try await gateway.requests("apns", count: 1)
        let tries = try await gateway.log("apns")
        try #require(tries.count == 2)
        #expect(tries.map { $0["answer"]?["status"]?.integer } == [503, 200])
        #expect(tries[0]["headers"]?["apns-id"] == tries[1]["headers"]?["apns-id"])
        #expect(tries[0]["body"] == tries[1]["body"])

        // The mark follows the provider's answer by a commit, with which the delivery leaves the queue.
        try await gateway.drained()
        #expect(try await host.dead() == Set(registrations.suffix(1).compactMap(\.string)))
        #expect(try await send(host, registrations, seq: 2) == ["queued", "dead"])
        _ = try await gateway.requests("apns", count: 2)
        #expect(try await gateway.log("fcm").count == 1, "nothing goes to a dead registration")
      }
    }
  }

  private func register(_ host: PythonHost) async throws -> [JsonValue] {
    let phones = [
      #"{"v":1,"deviceId":"a","platform":"ios","token":"\#(Self.iphone)","apnsEnvironment":"production"}"#,
      #"{"v":1,"deviceId":"b","platform":"android","token":"\#(Self.android)"}"#,
    ]
    var registrations: [JsonValue] = []
    for phone in phones {
      let answer = try await host.post("/v1/devices", try JsonReader.read(Array(phone.utf8)))
      registrations.append(try #require(answer["registrationId"]))
    }
    return registrations
  }

  private func send(_ host: PythonHost, _ registrations: [JsonValue], seq: Int64) async throws -> [String?] {
    let notification: JsonObject = [
      "notificationId": .string("run-\(seq)"), "notificationSeq": .integer(seq), "notificationEpoch": .string("e"),
      "source": .string("plugin"), "agentState": .null, "title": .string("t"), "body": .string("b"),
    ]
    let answer = try await host.post(
      "/v1/send",
      .object(["v": .integer(1), "registrationIds": .array(registrations), "notification": .object(notification)]))
    return answer["results"]?.array?.map { $0["status"]?.string } ?? []
  }
}
