import Foundation
import Json
import Testing

/// Nothing that was answered `queued` is lost or sent by two, through the real programs.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LossTests {
  @Test("Four workers send each delivery once", arguments: Gateway.StoreKind.allCases)
  func fourWorkers(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind, workers: 4) { gateway in
      try await send(30, gateway)
      try await expectOnce(30, gateway)
    }
  }

  @Test("kill -9 to api and worker right after the last answer loses nothing", arguments: Gateway.StoreKind.allCases)
  func killed(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      // Without a worker at first, so that all of it waits.
      await gateway.programs.stopWorker()
      try await send(20, gateway)
      await gateway.programs.killAll()
      try await gateway.programs.startApi()
      try await gateway.programs.startWorker()
      try await expectOnce(20, gateway)
    }
  }

  @Test("A worker that is told to end finishes what is under way", arguments: Gateway.StoreKind.allCases)
  func drained(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await gateway.script(#"{"fcm":{"latencyMs":2000}}"#)
      try await send(6, gateway, phones: 60)
      _ = try await gateway.requests("fcm", count: 1)
      // Sixty are under way, and five times as many wait behind them.
      await gateway.programs.stopWorker()
      let log = try await gateway.log("fcm")
      #expect(log.count >= 60)
      #expect(log.allSatisfy { $0["answer"]?["status"]?.integer == 200 }, "none was broken off")
      #expect(try await gateway.rows("select count(*) from push_delivery_batches where owner is not null") == ["0"])
      try await gateway.script(#"{"fcm":{"latencyMs":0}}"#)
      try await gateway.programs.startWorker()
      try await expectOnce(6, gateway, phones: 60)
    }
  }

  @Test(
    "What the provider has not answered when a worker ends counts as an attempt, and is sent again before what is younger",
    arguments: Gateway.StoreKind.allCases)
  func unanswered(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let phone = Phone(.production, 1)
        try await gateway.script(
          #"{"rules":[{"token":"\#(phone.token)","provider":"apns","steps":[{"action":"hang"}]}]}"#)
        let registrations = try await host.register([phone])
        try await host.alert(1, to: registrations)
        try await gateway.arrived("apns", phone.token)
        try await host.alert(2, to: registrations)
        await gateway.programs.stopWorker()

        func record(_ seq: Int64) async throws -> JsonValue {
          let answer = try await host.get("/v1/deliveries?notificationEpoch=e&notificationSeq=\(seq)")
          return try #require(answer["deliveries"]?.array?.first)
        }
        let pending = try await record(1)
        #expect(pending["state"]?.string == "pending")
        #expect(pending["attempts"]?.integer == 1)
        #expect(pending["unknownOutcomes"]?.integer == 1)
        #expect(pending["lastAttemptAt"]?.integer != nil)
        #expect(try await record(2)["attempts"]?.integer == 0)

        try await gateway.programs.startWorker()
        try await gateway.drained()
        let sent = try await record(1)
        #expect(sent["state"]?.string == "sent")
        #expect(sent["attempts"]?.integer == 2)
        #expect(sent["unknownOutcomes"]?.integer == 1)
        #expect(try await record(2)["attempts"]?.integer == 1)
        let seen = try await gateway.log("apns", token: phone.token)
        #expect(seen.map { $0["body"]?["orca"]?["notificationSeq"]?.integer } == [1, 1, 2])
      }
    }
  }

  /// One host's alerts to all of its phones.
  private func send(_ alerts: Int64, _ gateway: Gateway, phones: Int = 20) async throws {
    try await PythonHost.run(on: gateway) { host in
      let registrations = try await host.register((0..<phones).map { Phone(.android, $0) })
      for seq in 0..<alerts {
        #expect(try await host.alert(seq, to: registrations).allSatisfy { $0 == "queued" })
      }
    }
  }

  /// Waits for the end, and looks whether each phone was sent each alert once and in order.
  private func expectOnce(_ alerts: Int64, _ gateway: Gateway, phones: Int = 20) async throws {
    try await gateway.drained()
    let seqs = Dictionary(grouping: try await gateway.log("fcm")) { $0["body"]?["message"]?["token"]?.string ?? "" }
      .mapValues { $0.compactMap { $0["body"]?["message"]?["data"]?["notificationSeq"]?.string } }
    #expect(seqs.count == phones)
    #expect(seqs.values.allSatisfy { $0 == (0..<alerts).map(String.init) })
  }
}
