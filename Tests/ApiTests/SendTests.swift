import Foundation
import Json
import Testing

/// Contract, "Send"; rulings 4 and 5.
@Suite struct SendTests {
  @Test(arguments: StoreKind.allCases)
  func `Each registration gets its answer, in the order of the request and once`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      let living = try await gateway.phone(token, "living")
      let dead = try await gateway.phone(token, "dead")
      let others = try await gateway.phone(try await gateway.bearer(), "other's")
      try await gateway.place.script("update push_devices set dead_at = 1 where device_id = 'dead'")
      let ids = [dead, "unknown", living, others, living, dead]
      let reply = try await gateway.ask(.post("/v1/send", Body.send(ids, Body.notification(1)), bearer: token))
      #expect(reply.members == ["results"])
      let results = try #require(reply.json?["results"]?.array)
      #expect(results.allSatisfy { $0.object?.members.map(\.key) == ["registrationId", "status"] })
      #expect(results.map { $0["registrationId"]?.string } == [dead, "unknown", living, others])
      #expect(reply.results == ["dead", "error", "queued", "error"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A repeat is queued again, other content of one identity is an error`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      let phone = try await gateway.phone(token)
      for notification in [
        Body.notification(1), Body.notification(1), Body.notification(1, kind: "alert"),
        Body.notification(1, sound: false),
      ] {
        #expect(try await gateway.send(token, [phone], notification) == ["queued"])
      }
      #expect(try await gateway.send(token, [phone], Body.notification(1, title: "Other")) == ["error"])
      #expect(try await gateway.send(token, [phone], Body.notification(1, kind: "dismiss")) == ["queued"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `An event past its deadline is an error`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      let phone = try await gateway.phone(token)
      #expect(try await gateway.send(token, [phone], Body.notification(1, expiresAt: 1_000)) == ["error"])
      let later = Int64(Date().timeIntervalSince1970 * 1000) + 60_000
      #expect(try await gateway.send(token, [phone], Body.notification(1, expiresAt: later)) == ["queued"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A host has exactly 300 alerts and 300 dismissals, however many processes it asks at once`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { gateway in
      let other = try await gateway.another()
      let token = try await gateway.bearer()
      let phone = try await gateway.phone(token)
      for kind in ["alert", "dismiss"] {
        let replies = try await Gateway.ask(
          (0..<320).map { number in
            let body = Body.send([phone], Body.notification(Int64(number), kind: kind))
            return (number.isMultiple(of: 2) ? gateway : other, .post("/v1/send", body, bearer: token))
          }, at: 24)
        #expect(replies.allSatisfy { $0.status == 200 })
        #expect(replies.filter { $0.results == ["queued"] }.count == 300)
        #expect(replies.filter { $0.results == ["rate_limited"] }.count == 20)
        // What was taken is repeated for nothing.
        let taken = try #require(replies.firstIndex { $0.results == ["queued"] })
        let again = Body.notification(Int64(taken), kind: kind)
        #expect(try await other.send(token, [phone], again) == ["queued"])
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Of two contents of one identity at once one is taken, at every process the same`(on kind: StoreKind)
    async throws
  {
    try await kind.use { gateway in
      let other = try await gateway.another()
      let token = try await gateway.bearer()
      let phone = try await gateway.phone(token)
      for seq in 0..<10 {
        let replies = try await Gateway.ask(
          (0..<8).map { number in
            let notification = Body.notification(Int64(seq), title: number.isMultiple(of: 2) ? "one" : "two")
            return (number < 4 ? gateway : other, .post("/v1/send", Body.send([phone], notification), bearer: token))
          }, at: 8)
        let results = replies.map(\.results)
        let taken = results.firstIndex(of: ["queued"]).map { $0 % 2 }
        #expect(results == (0..<8).map { $0 % 2 == taken ? ["queued"] : ["error"] })
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What was queued outlives the process`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      let phone = try await gateway.phone(token)
      #expect(try await gateway.send(token, [phone], Body.notification(1)) == ["queued"])
      gateway.process.killAtOnce()
      try await gateway.process.ended()
      let next = try await gateway.another()
      #expect(try await next.send(token, [phone], Body.notification(1, title: "Other")) == ["error"])
      #expect(try await next.send(token, [phone], Body.notification(1)) == ["queued"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Hosts that send at once do not get in each other's way`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      var asks: [(Gateway, Ask)] = []
      for _ in 0..<6 {
        let token = try await gateway.bearer()
        let phone = try await gateway.phone(token)
        asks += (0..<20).map { number in
          (gateway, .post("/v1/send", Body.send([phone], Body.notification(Int64(number))), bearer: token))
        }
      }
      let replies = try await Gateway.ask(asks.shuffled(), at: 32)
      #expect(replies.count == 120)
      #expect(replies.allSatisfy { $0.results == ["queued"] })
    }
  }
}
