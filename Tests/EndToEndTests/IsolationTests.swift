import Foundation
import Json
import Testing

/// Whoever is slow, silent or greedy is so at their own cost. Ratios within one run, since machines differ.
@Suite(.serialized, .timeLimit(.minutes(5))) struct IsolationTests {
  @Test("Apple's silence leaves Google's p99 within twice its usual", arguments: Gateway.StoreKind.allCases)
  func silence(kind: Gateway.StoreKind) async throws {
    // Two gateways side by side, so that whatever else this machine does strikes both.
    try await Gateway.run(kind) { usual in
      try await Gateway.run(kind) { silent in
        try await PythonHost.run(on: usual) { first in
          try await PythonHost.run(on: silent) { second in
            try await usual.script(#"{"fcm":{"latencyMs":50}}"#)
            try await silent.script(#"{"fcm":{"latencyMs":50}}"#)
            let iphones = (0..<9).map { Phone(.production, $0) }
            let android = Phone(.android, 99)
            let phones = [android] + iphones
            let registrations = try await (first.register(phones), second.register(phones))
            // Proven tokens have connections of their own, which take many pushes once Apple has accepted one.
            for seq in 1_000..<1_002 as Range<Int64> {
              try await first.alert(seq, to: registrations.0)
              try await second.alert(seq, to: registrations.1)
              _ = try await silent.requests("apns", count: iphones.count * Int(seq - 999))
            }
            try await silent.script(
              #"{"rules":[{"token":"*","provider":"apns","steps":[{"action":"hang","times":"always"}]}]}"#)
            var ratios: [Double] = []
            for round in 0..<5 as Range<Int64> {
              var latencies: (usual: [Int64], silent: [Int64]) = ([], [])
              for seq in round * 10..<(round + 1) * 10 {
                latencies.usual.append(try await latency(seq, first, registrations.0, usual, android))
                // Apple's answers there are not to be in the way of what is measured next.
                try await usual.answered("apns", count: iphones.count * Int(seq + 3))
                latencies.silent.append(try await latency(seq, second, registrations.1, silent, android))
              }
              // Of so few the p99 is the longest.
              ratios.append(Double(latencies.silent.max() ?? 0) / Double(latencies.usual.max() ?? 1))
            }
            let median = ratios.sorted()[ratios.count / 2]
            #expect(median < 2, "\(ratios)")
            let asked = try await silent.log("apns").count
            #expect(asked >= 3 * iphones.count, "a push to each phone hangs")
          }
        }
      }
    }
  }

  @Test("A host's burst to 20 phones leaves another host's alert alone", arguments: Gateway.StoreKind.allCases)
  func burst(kind: Gateway.StoreKind) async throws {
    // What a worker has claimed by the time that the alert is queued, and what a claim brings that was under way then.
    let claimed = 2 * 256
    // The fair order gives a host 20 ms for every four phones, from when its burst began.
    let pace: (milliseconds: Int64, deliveries: Int) = (20, 4)
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { greedy in
        try await PythonHost.run(on: gateway) { modest in
          try await gateway.script(#"{"fcm":{"latencyMs":50}}"#)
          let crowd = try await greedy.register((0..<20).map { Phone(.android, $0, of: 1) })
          let phone = Phone(.android, 0, of: 2)
          let one = try await modest.register([phone])
          let began = Gateway.now
          async let said = flood(greedy, crowd)
          var backlog = 0
          for seq in 0..<15 as Range<Int64> {
            #expect(try await modest.alert(seq, to: one) == ["queued"])
            // What has its place before the alert's: in numbers, since two seconds of a busy machine are any number.
            let due = Int((Gateway.now - began) / pace.milliseconds) * pace.deliveries + crowd.count
            let arrived = try await gateway.arrived()
            let own = try await gateway.next("fcm", Int(seq), token: phone.token)
            let before = Int(try #require(own["number"]?.integer)) - arrived - 1
            #expect(before <= max(0, due - arrived) + claimed + crowd.count, "\(before) of \(due) after \(arrived)")
            let events = try await gateway.rows("select count(*) from push_delivery_batches")
            backlog = max(backlog, (Int(events.first ?? "") ?? 0) * crowd.count)
          }
          #expect(backlog > 2 * claimed, "else nothing was in the way")
          let statuses = try await said
          // Over its quota nothing of the burst is queued, and the other's quota is its own.
          #expect(statuses == Array(repeating: "queued", count: 300 * 20))
          #expect(try await greedy.alert(300, to: crowd) == Array(repeating: "rate_limited", count: 20))
          #expect(try await modest.alert(15, to: one) == ["queued"])
          #expect(try await gateway.rows("select count(*) from push_events where seq = 300") == ["0"])
        }
      }
    }
  }

  private func flood(_ host: PythonHost, _ registrations: [String]) async throws -> [String] {
    var said: [String] = []
    for seq in 0..<300 as Range<Int64> { said += try await host.alert(seq, to: registrations) }
    return said
  }

  @Test("A phone that hangs holds its own deliveries alone", arguments: Gateway.StoreKind.allCases)
  func hanging(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let (hanging, well) = (Phone(.android, 1), Phone(.android, 2))
        try await gateway.script(
          #"{"rules":[{"token":"\#(hanging.token)","steps":[{"action":"hang","times":"always"}]}]}"#)
        let registrations = try await host.register([hanging, well])
        for seq in 0..<5 as Range<Int64> { try await host.alert(seq, to: registrations) }
        let accepted = try await gateway.requests("fcm", count: 5)
        #expect(
          accepted.map { $0["body"]?["message"]?["data"]?["notificationSeq"]?.string } == ["0", "1", "2", "3", "4"])
        #expect(accepted.allSatisfy { $0["body"]?["message"]?["token"]?.string == well.token })
        // One at a time, and its turn is not over before its ten seconds are.
        #expect(try await gateway.log("fcm").count == 6)
      }
    }
  }

  @Test("A host whose phone hangs leaves room for others, however much it sends", arguments: Gateway.StoreKind.allCases)
  func crowd(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { greedy in
        try await PythonHost.run(on: gateway) { modest in
          let (hanging, well) = (Phone(.android, 1), Phone(.android, 2))
          try await gateway.script(
            #"{"rules":[{"token":"\#(hanging.token)","steps":[{"action":"hang","times":"always"}]}]}"#)
          let crowd = try await greedy.register([hanging])
          let one = try await modest.register([well])
          // More than the worker holds.
          #expect(try await flood(greedy, crowd) == Array(repeating: "queued", count: 300))
          let before = try await gateway.log("fcm", token: hanging.token).count
          for seq in 0..<5 as Range<Int64> {
            #expect(try await modest.alert(seq, to: one) == ["queued"])
            _ = try await gateway.next("fcm", Int(seq), token: well.token)
          }
          // None of them waited for a turn of the phone that hangs to end, which is when room would come free.
          let turns = try await gateway.log("fcm", token: hanging.token).count - before
          #expect(turns <= 2, "\(turns) turns of ten seconds")
        }
      }
    }
  }

  /// Sends an alert to all and waits until one phone shows it; how long that took, in ms.
  private func latency(
    _ seq: Int64, _ host: PythonHost, _ registrations: [String], _ gateway: Gateway, _ phone: Phone
  ) async throws -> Int64 {
    let began = Gateway.now
    let title = "alert \(seq) of \(host.fingerprint)"
    #expect(try await host.alert(seq, to: registrations, ["title": .string(title)]).allSatisfy { $0 == "queued" })
    let shown = try await gateway.shown(title, on: phone)
    return shown - began
  }
}
