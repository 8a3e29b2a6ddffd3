import Foundation
import Json
import Testing

/// Faults of providers that pass, through the real programs. Long pauses are read off the queue and then cut short.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PassingFaultTests {
  @Test(
    "What may have been delivered comes again under the same identity; a quota's end and Retry-After are waited for",
    arguments: Gateway.StoreKind.allCases)
  func pauses(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let phones = (0..<4).map { Phone(.android, $0) }
        let date = HTTPDate.text(Date().addingTimeInterval(40))
        let steps = [
          // Google answers 503 and delivers all the same.
          #"{"status":503,"reason":"UNAVAILABLE","deliver":true}"#,
          #"{"status":429,"reason":"QUOTA_EXCEEDED","times":2}"#,
          #"{"status":503,"reason":"UNAVAILABLE","headers":{"retry-after":"17"}}"#,
          #"{"status":503,"reason":"UNAVAILABLE","headers":{"retry-after":"\#(date)"}}"#,
        ]
        let rules = zip(phones, steps).map { #"{"token":"\#($0.token)","steps":[\#($1)]}"# }
        try await gateway.script("{\"rules\":[\(rules.joined(separator: ","))]}")
        let registrations = try await host.register(phones)
        try await host.alert(1, to: registrations)

        let due = try await gateway.retries(registrations)
        let asked = Dictionary(
          uniqueKeysWithValues: try await gateway.log("fcm").map {
            ($0["body"]?["message"]?["token"]?.string ?? "", $0["time"]?.integer ?? 0)
          })
        for (place, least) in [10, 60, 17, 38].enumerated() {
          let wait = try #require(due[registrations[place]]) - (asked[phones[place].token] ?? 0)
          #expect(wait >= Int64(least) * 1_000, "phone \(place) waits \(wait) ms")
          // With a quarter's jitter, and what this machine took to answer.
          #expect(wait < Int64(least) * 1_250 + 15_000, "phone \(place) waits \(wait) ms")
        }
        try await gateway.hastenRetries()
        let again = try await gateway.retries([registrations[1]], after: 2)
        #expect(try #require(again[registrations[1]]) >= Gateway.now + 30_000)
        try await gateway.hastenRetries()
        try await gateway.drained()
        #expect(try await gateway.outcomes().allSatisfy { $0.state == "sent" })

        let tries = try await gateway.log("fcm").filter { $0["body"]?["message"]?["token"]?.string == phones[0].token }
        #expect(tries.map { $0["answer"]?["delivered"] } == [.bool(true), .bool(true)])
        #expect(tries[0]["body"]?["message"]?["data"] == tries[1]["body"]?["message"]?["data"])
        #expect(tries[0]["body"]?["message"]?["notification"] == tries[1]["body"]?["message"]?["notification"])
        #expect(tries[0]["body"]?["message"]?["android"]?["collapse_key"] != nil)
        let metrics = try await gateway.programs.operatorsSee("/metrics").text
        #expect(metrics.contains(#"orca_push_attempts_total{provider="fcm",reason="UNAVAILABLE"} 3"#), "\(metrics)")
        #expect(metrics.contains(#"orca_push_attempts_total{provider="fcm",reason="QUOTA_EXCEEDED"} 2"#))
      }
    }
  }

  @Test("What is over by the time that the provider is back is not sent", arguments: Gateway.StoreKind.allCases)
  func lateness(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        try await gateway.script(
          #"{"rules":[{"token":"*","provider":"apns","steps":[{"status":503,"reason":"ServiceUnavailable","times":"always"}]}]}"#
        )
        let registrations = try await host.register([Phone(.production, 1), Phone(.production, 2)])
        let deadline = JsonValue.integer(Gateway.now + 4_000)
        #expect(try await host.alert(1, to: registrations, ["expiresAt": deadline]) == ["queued", "queued"])
        try await gateway.drained()
        #expect(try await gateway.outcomes().map(\.state) == ["expired", "expired"])
        try await gateway.forgetScript()
        let tries = try await gateway.log("apns").count
        #expect(try await host.alert(2, to: registrations) == ["queued", "queued"])
        try await gateway.drained()
        let log = try await gateway.log("apns")
        #expect(log.count == tries + 2)
        #expect(log.suffix(2).allSatisfy { $0["body"]?["orca"]?["notificationSeq"]?.integer == 2 })
      }
    }
  }
}

/// The form of dates in HTTP (RFC 9110 5.6.7).
private enum HTTPDate {
  static func text(_ date: Date) -> String {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return format.string(from: date)
  }
}
