import Contract
import Keys
import Testing

@testable import Stores

/// Rulings 7: what goes, when, and in which portions.
@Suite struct HousekeepingTests {
  private func sum(_ rows: [String: Int]) -> Int { rows.values.reduce(0, +) }

  @Test(arguments: StoreKind.allCases, SweepStep.allCases)
  func `An empty store needs no sweeping`(on kind: StoreKind, step: SweepStep) async throws {
    try await kind.use { under in
      let swept = try await under.store.sweep(step, limit: 10)
      #expect(!swept.isFull)
      #expect(sum(swept.rows) == 0)
      #expect(swept.rows.keys.allSatisfy { $0.hasPrefix("push_") })
    }
  }

  /// Leaves `count` rows behind for each step to take.
  private func litter(_ under: StoreUnderTest, count: Int) async throws {
    for number in 0..<count {
      try await under.store.saveChallenge(
        id: "old \(number)", fingerprint: try StoreUnderTest.fingerprint("host"), proofDigest: Sha256.digest("p"))
      let host = try await under.host("host \(number)")
      let id = try await under.phone(host)
      try await under.send(.dismissal(1, id: "n"), host, [id])
    }
    try await under.advance(25 * .hour)
  }

  @Test(arguments: StoreKind.allCases)
  func `A step takes no more than its limit, and says when there may be more`(on kind: StoreKind) async throws {
    try await kind.use { under in
      try await litter(under, count: 5)
      for (step, table, rows) in [
        (.challenges, "push_challenges", 10), (.sessions, "push_sessions", 5),
        (.deliveries, "push_delivery_batches", 5),
        (.events, "push_events", 5), (.fences, "push_dismissed_events", 5),
      ] as [(SweepStep, String, Int)] {
        var taken = 0
        var isFull = true
        while isFull {
          let swept = try await under.store.sweep(step, limit: 2)
          #expect(swept.rows[table, default: 0] <= 2)
          #expect(swept.isFull || swept.rows[table, default: 0] < 2)
          taken += swept.rows[table, default: 0]
          isFull = swept.isFull
        }
        #expect(taken == rows, "\(step)")
        #expect(sum(try await under.second.sweep(step, limit: 100).rows) == 0)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Two that sweep at once take each row once`(on kind: StoreKind) async throws {
    try await kind.use { under in
      try await litter(under, count: 12)
      for (step, rows) in [(.challenges, 24), (.sessions, 12), (.deliveries, 12), (.events, 24), (.fences, 12)]
        as [(SweepStep, Int)]
      {
        let taken = try await withThrowingTaskGroup(of: Int.self) { group in
          for number in 0..<6 {
            group.addTask {
              var taken = 0
              while true {
                let swept = try await under[number].sweep(step, limit: 3)
                taken += swept.rows.values.reduce(0, +)
                if !swept.isFull { return taken }
              }
            }
          }
          return try await group.reduce(0, +)
        }
        // A sweep that skipped what another held may have stopped early; what it left is there for the next.
        #expect(taken + sum(try await under.sweep(step)) == rows, "\(step)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A payload goes at once when the last of its deliveries has ended, and not before`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = [
        try await under.phone(host, "a"), try await under.phone(host, "b"),
        try await under.phone(host, "c", route: .apnsSandbox),
      ]
      try await under.send(.alert(1), host, ids)
      #expect(sum(try await under.sweep(.payloads)) == 0)
      let held = try await under.claim().deliveries
      #expect(sum(try await under.sweep(.payloads)) == 0)
      try await under.settle([held[0].ends(.sent), held[1].again(after: 1_000, attempts: 1)])
      #expect(sum(try await under.sweep(.payloads)) == 0)
      try await under.settle([try await under.claimOne(.apnsSandbox).ends(.failed)])
      #expect(sum(try await under.sweep(.payloads)) == 0)
      try await under.advance(1_000)
      let retried = try await under.claimOne()
      #expect(retried.text == Event.alert(1).payload)
      try await under.settle([retried.ends(.sent)])
      #expect(sum(try await under.sweep(.payloads)) == 1)
      #expect(sum(try await under.sweep(.payloads)) == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Payloads of expired and cancelled deliveries go too, in portions`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      for seq in 0..<7 as Range<Int64> { try await under.send(.alert(seq, id: "n"), host, ids) }
      try await under.send(.dismissal(3, id: "n"), host, ids)
      #expect(try await under.claim(limit: 100).ended == [.cancelled: 8])
      try await under.advance(5 * .minute + 1)
      try await under.sweep(.deliveries)
      #expect(try await under.depth() == 0)
      var emptied = 0
      var rounds = 0
      while true {
        let swept = try await under.store.sweep(.payloads, limit: 3)
        #expect(sum(swept.rows) <= 3)
        emptied += sum(swept.rows)
        rounds += 1
        if !swept.isFull { break }
      }
      #expect(emptied == 8)
      #expect(rounds >= 3)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A repeat to a new phone brings an emptied payload back`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      let event = Event.alert(1)
      for id in ids {
        #expect(try await under.send(event, host, [id]) == [.queued])
        // Sweeping between the repeat and the claim does it no harm.
        #expect(sum(try await under.sweep(.payloads)) == 0)
        #expect(try await under.deliver().map(\.text) == [event.payload])
        #expect(sum(try await under.sweep(.payloads)) == 1)
      }
      #expect(try await under.send(event, host, ids) == [.queued, .queued, .queued])
      #expect(sum(try await under.sweep(.payloads)) == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Sweeping payloads while phones are added loses none`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 12)
      let events = (0..<4).map { Event.alert($0) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for id in ids {
            for event in events {
              let results = try await under.store.admit([event.admission(host, [id])]).results
              #expect(results == [[.queued]])
            }
          }
        }
        group.addTask {
          for _ in 0..<30 {
            let claim = try await under.second.claim(
              .fcm, owner: 1, limit: ClaimLimit(batches: 3), lease: 30_000, from: .bottom)
            #expect(claim.deliveries.allSatisfy { !$0.payload.isEmpty })
            #expect(claim.ended.isEmpty)
            _ = try await under.second.settle(claim.deliveries.map { $0.ends(.sent) }, owner: 1)
          }
        }
        group.addTask { for _ in 0..<60 { _ = try await under.second.sweep(.payloads, limit: 2) } }
        try await group.waitForAll()
      }
      while true {
        let claim = try await under.claim()
        #expect(claim.ended.isEmpty)
        #expect(claim.deliveries.allSatisfy { delivery in events.contains { $0.payload == delivery.text } })
        try await under.settle(claim.deliveries.map { $0.ends(.sent) })
        if claim.looked == 0 { break }
      }
      #expect(try await under.depth() == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Events are forgotten after 24 hours with their recipients`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      try await under.send(.alert(1), host, ids)
      try await under.deliver()
      try await under.advance(24 * .hour - 1)
      #expect(sum(try await under.sweep(.events)) == 0)
      #expect(try await under.send(Event.alert(1).with(\.content, "x"), host, ids) == [.error, .error, .error])
      try await under.send(.alert(2), host, [ids[0]])
      try await under.advance(2)
      #expect(try await under.sweep(.events) == ["push_events": 1, "push_event_recipients": 3])
      #expect(try await under.send(Event.alert(1).with(\.content, "x"), host, ids) == [.queued, .queued, .queued])
      #expect(try await under.send(Event.alert(2).with(\.content, "x"), host, [ids[0]]) == [.error])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Registrations are never forgotten by age, dead or alive`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      try await under.kill(host, ids[1])
      try await under.advance(1_000 * 24 * .hour)
      for step in SweepStep.allCases { try await under.sweep(step) }
      let devices = try await under.store.devices(of: host)
      #expect(devices.map(\.registrationId) == ids)
      #expect(devices.map(\.isDead) == [false, true])
      #expect(try await under.send(.alert(1), host, ids) == [.queued, .dead])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Sweeping leaves what is young alone`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.alert(1), host, [id])
      try await under.send(.dismissal(1, id: "n"), host, [id])
      for step in SweepStep.allCases { #expect(sum(try await under.sweep(step)) == 0, "\(step)") }
      #expect(try await under.deliver().count == 2)
      #expect(try await under.store.session(Sha256.digest("token of host")) != .unknown)
    }
  }
}
