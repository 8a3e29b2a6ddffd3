import Json
import Testing

/// What a host asks for twice and a phone must get once.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RepeatTests {
  @Test(
    "A phone that a request names twice, or that a repeat names again, is sent to once and counted once",
    arguments: Gateway.StoreKind.allCases)
  func twice(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let phone = Phone(.android, 1)
        let id = try await host.register([phone])[0]
        #expect(try await host.register([phone]) == [id], "a phone that registers again keeps its id")
        let said = try await host.alert(1, to: [id, id])
        #expect(!said.isEmpty && said.allSatisfy { $0 == "queued" })
        try await gateway.drained()
        #expect(try await host.alert(1, to: [id, id]) == said, "the second reply is the first")
        #expect(try await host.alert(2, to: [id]) == ["queued"])
        try await gateway.drained()
        let seqs = try await gateway.log("fcm").map { $0["body"]?["message"]?["data"]?["notificationSeq"]?.string }
        #expect(seqs == ["1", "2"])
        let events = try await gateway.rows("select max(number) from push_events where kind = 1")
        #expect(events == ["2"], "a repeat is free")
      }
    }
  }
}
