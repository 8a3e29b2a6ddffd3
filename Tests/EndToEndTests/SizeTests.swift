import Foundation
import Json
import Testing

/// The largest and the oddest that a host may send, to a sandbox that measures as Apple and Google do.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SizeTests {
  @Test("Tokens of every length that Apple gives out are taken", arguments: Gateway.StoreKind.allCases)
  func tokens(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let phones = [64, 108, 160, 200].map { length in
          Phone(.production, token: "\(length)".padding(toLength: length, withPad: "4f", startingAt: 0))
        }
        let registrations = try await host.register(phones)
        #expect(Set(registrations).count == 4)
        #expect(try await host.alert(1, to: registrations) == Array(repeating: "queued", count: 4))
        #expect(
          Set(try await gateway.requests("apns", count: 4).map { $0["token"]?.string }) == Set(phones.map(\.token)))
        // A wrong one is refused by itself, and does not spoil a send to the others.
        let refused = try await host.answer(to: [
          "method": .string("POST"), "path": .string("/v1/devices"),
          "body": .object([
            "v": .integer(1), "deviceId": .string("odd"), "platform": .string("ios"), "token": .string("4f4"),
            "apnsEnvironment": .string("production"),
          ]),
        ])
        #expect(refused["status"] == .integer(400))
        #expect(refused["body"]?["detail"]?.string?.contains("token") == true)
        #expect(
          try await host.alert(2, to: Array(registrations.prefix(2)) + ["nobody"] + Array(registrations.suffix(2)))
            == ["queued", "queued", "error", "queued", "queued"])
      }
    }
  }

  @Test(
    "The largest notification reaches both phones whole, in either form", arguments: Gateway.StoreKind.allCases,
    ["notification", "data"])
  func largest(kind: Gateway.StoreKind, form: String) async throws {
    try await Gateway.run(kind, worker: { settings, _ in settings["ORCA_PUSH_FCM_ALERTS"] = form }) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let registrations = try await host.register([Phone(.production, 1), Phone(.android, 2)])
        // A family, a letter with a mark of its own, right to left, quotes: 80 and 180 UTF-16 units to the last.
        let title = fill("👩‍👩‍👧‍👦", 80)
        let body = fill("e\u{301}שלום\"\\", 180)
        let changes: JsonObject = [
          "title": .string(title), "body": .string(body),
          "notificationId": .string(String(repeating: "i", count: 1_400)),
          "worktreeId": .string(String(repeating: "中", count: 200)), "source": .string("agent-task-complete"),
          "agentState": .string("needs-input"),
        ]
        #expect(try await host.alert(1, to: registrations, changes) == ["queued", "queued"])
        let apns = try #require(try await gateway.requests("apns", count: 1).first)
        #expect(apns["body"]?["aps"]?["alert"]?["title"]?.string.map { Array($0.utf8) } == Array(title.utf8))
        #expect(apns["body"]?["aps"]?["alert"]?["body"]?.string.map { Array($0.utf8) } == Array(body.utf8))
        #expect(apns["headers"]?["apns-collapse-id"]?.string?.utf8.count == 64)
        let message = try #require(try await gateway.requests("fcm", count: 1).first?["body"]?["message"])
        let shown = form == "data" ? message["data"]?["message"] : message["notification"]?["body"]
        #expect(shown?.string.map { Array($0.utf8) } == Array(body.utf8))
        // One byte more than 3000 is refused, and the member named.
        let refused = try await host.answer(to: [
          "method": .string("POST"), "path": .string("/v1/send"),
          "body": .object([
            "v": .integer(1), "registrationIds": .array(registrations.map { .string($0) }),
            "notification": .object([
              "notificationSeq": .integer(2), "notificationEpoch": .string("e"), "source": .string("plugin"),
              "agentState": .null, "title": .string("t"), "body": .string("b"),
              "worktreeId": .string(String(repeating: "中", count: 1_000)),
            ]),
          ]),
        ])
        #expect(refused["status"] == .integer(400))
        #expect(refused["body"]?["detail"]?.string?.contains("notification") == true)
      }
    }
  }

  /// Repetitions of `text`, and dots to exactly `units` UTF-16 units: never cut within a character.
  private func fill(_ text: String, _ units: Int) -> String {
    let times = units / text.utf16.count
    return String(repeating: text, count: times) + String(repeating: ".", count: units - times * text.utf16.count)
  }
}
