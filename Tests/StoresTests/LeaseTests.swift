import Contract
import Testing

@testable import Stores

/// Rulings 6.2, 6.4 and 6.12: leases, fences and what becomes of a worker that lost one.
@Suite struct LeaseTests {
  @Test(arguments: StoreKind.allCases)
  func `A lapsed lease gives the same delivery to another owner, and the first changes nothing more`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.alert(1, id: "n").with(\.isSilent, true), host, [id])
      let stale = try await under.claimOne(owner: 1)
      try await under.advance(29_999)
      #expect(try await under.claim(owner: 2).deliveries.isEmpty)
      try await under.advance(2)
      let fresh = try await under.claimOne(owner: 2)
      #expect(fresh.identity == stale.identity)
      #expect(fresh.payload == stale.payload)
      #expect(fresh.expiresAt == stale.expiresAt)
      #expect(fresh.admittedAt == stale.admittedAt)
      #expect(fresh.isSilent && fresh.attempts == stale.attempts)
      #expect(fresh.batch.fence > stale.batch.fence)

      for settlement in [
        stale.ends(.sent), stale.ends(.dead), stale.again(after: 0, attempts: 9),
        stale.again(after: .hour, attempts: 9),
      ] {
        var settlement = settlement
        settlement.kills = (stale.token, nil)
        settlement.proves = stale.token
        #expect(try await under.settle([settlement], owner: 1) == [.lost])
      }
      #expect(try await under.store.renew([stale.batch], owner: 1, lease: .hour).isEmpty)
      try await under.store.release([stale.batch], owner: 1)
      #expect(try await under.store.devices(of: host).map(\.isDead) == [false])
      #expect(
        try await under.store.recheck([fresh])
          == [.send(token: fresh.token, registeredAt: fresh.registeredAt, isProven: false)])
      #expect(try await under.depth() == 1)
      #expect(try await under.claim(owner: 3).deliveries.isEmpty)
      // Nor does anybody change something by naming another's lease.
      #expect(try await under.settle([fresh.ends(.sent)], owner: 1) == [.lost])
      #expect(try await under.store.renew([fresh.batch], owner: 1, lease: .hour).isEmpty)
      #expect(try await under.settle([fresh.ends(.sent)], owner: 2) == [.ended])
      #expect(try await under.depth() == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `An owner that claims its own lapsed batch again holds it under a new fence`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      try await under.send(.alert(1), host, [try await under.phone(host)])
      let stale = try await under.claimOne(owner: 1)
      try await under.advance(30_001)
      let fresh = try await under.claimOne(owner: 1)
      #expect(try await under.settle([stale.ends(.failed)], owner: 1) == [.lost])
      #expect(try await under.settle([fresh.ends(.sent)], owner: 1) == [.ended])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What a dead owner held comes before its host's younger deliveries, wherever the mark is`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let id = try await under.phone(host)
      let foreign = try await under.phone(other)
      try await under.send(.alert(1), host, [id])
      _ = try await under.claimOne(owner: 1)
      try await under.advance(30_001)
      try await under.send(.alert(2), host, [id])
      try await under.send(.alert(3), other, [foreign])
      // Somebody whose mark is beyond the oldest is told so, and takes what is not of that host.
      let claim = try await under.claim(owner: 2, from: LowWater(floor: 0, next: (under.now - 1_000) << 20))
      #expect(claim.deliveries.map(\.text) == [Event.alert(3).payload])
      #expect(claim.hasOlder)
      let rest = try await under.claim(owner: 2, from: claim.lowWater)
      #expect(rest.deliveries.map(\.text) == [Event.alert(1).payload, Event.alert(2).payload])
      #expect(!rest.hasOlder)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Renewal keeps a lease as long as it comes in time`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = [try await under.phone(host, "a"), try await under.phone(host, "b", route: .apnsSandbox)]
      try await under.send(.alert(1), host, ids)
      let held = [try await under.claimOne(.fcm).batch, try await under.claimOne(.apnsSandbox).batch]
      for _ in 0..<3 {
        try await under.advance(20_000)
        #expect(try await under.store.renew(held, owner: 1, lease: 30_000) == Set(held))
      }
      try await under.advance(29_999)
      #expect(try await under.claim(owner: 2).deliveries.isEmpty)
      try await under.advance(2)
      // Lapsed is lost: the host may be another's by now, whoever holds this batch.
      #expect(try await under.store.renew(held, owner: 1, lease: 30_000).isEmpty)
      #expect(try await under.claim(.fcm, owner: 2).deliveries.map(\.registrationId) == [ids[0]])
      #expect(try await under.claim(.apnsSandbox, owner: 3).deliveries.map(\.registrationId) == [ids[1]])
      #expect(try await under.store.renew(held, owner: 1, lease: 30_000).isEmpty)
      #expect(try await under.store.renew([], owner: 1, lease: 30_000).isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What is given back is there at once, as it was`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      try await under.send(.alert(1), host, ids)
      try await under.send(.alert(2), host, ids)
      let first = try await under.claim(owner: 1).deliveries
      try await under.store.release(Array(Set(first.map(\.batch))), owner: 1)
      #expect(try await under.settle([first[0].ends(.sent)], owner: 1) == [.lost])
      #expect(try await under.store.renew([first[0].batch], owner: 1, lease: 30_000).isEmpty)
      let second = try await under.claim(owner: 2).deliveries
      #expect(second.map(\.identity) == first.map(\.identity))
      #expect(second.map(\.payload) == first.map(\.payload))
      #expect(second.allSatisfy { $0.attempts == 0 })
      #expect(try await under.settle(second.map { $0.ends(.sent) }, owner: 2) == second.map { _ in .ended })
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Of a batch settled in part only the rest is offered again`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 5)
      try await under.send(.alert(1), host, ids)
      let first = try await under.claim(owner: 1).deliveries
      try #require(first.count == 5)
      try await under.settle([first[1].ends(.sent), first[3].ends(.failed, detail: "reason")], owner: 1)
      #expect(try await under.depth() == 3)
      try await under.store.release([first[0].batch], owner: 1)
      let second = try await under.claim(owner: 2).deliveries
      #expect(second.map(\.identity) == [0, 2, 4].map { first[$0].identity })
      try await under.settle([second[0].ends(.sent)], owner: 2)
      try await under.advance(30_001)
      let third = try await under.claim(owner: 3).deliveries
      #expect(third.map(\.identity) == [2, 4].map { first[$0].identity })
      #expect(try await under.settle(third.map { $0.ends(.sent) }, owner: 3) == [.ended, .ended])
      #expect(try await under.depth() == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Settlements of one call are answered one by one`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 4)
      try await under.send(.alert(1).with(\.expiresAt, under.now + 20_000), host, ids)
      let held = try await under.claim().deliveries
      try #require(held.count == 4)
      let other = try await under.host("other")
      try await under.send(.alert(1), other, [try await under.phone(other)])
      let stale = try await under.claimOne(owner: 2)
      let results = try await under.settle([
        held[0].ends(.sent, detail: "projects/p/messages/1"), held[1].again(after: 1_000, attempts: 1),
        stale.ends(.sent),
        held[2].again(after: 20_001, attempts: 1), held[3].ends(.dead, detail: String(repeating: "x", count: 200)),
        Settlement(batch: held[0].batch, device: 999_999, verdict: .ended(.sent, detail: nil)),
      ])
      #expect(results == [.ended, .again, .lost, .expired, .ended, .lost])
      #expect(try await under.settle([]) == [])
      #expect(try await under.depth() == 2)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A delivery ends once`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      try await under.send(.alert(1), host, ids)
      let held = try await under.claim().deliveries
      for outcome in [Outcome.sent, .failed] {
        let isFirst = outcome == .sent
        #expect(try await under.settle([held[0].ends(outcome)]) == [isFirst ? .ended : .lost])
      }
      #expect(try await under.settle([held[0].again(after: 0, attempts: 1)]) == [.lost])
      #expect(try await under.settle([held[1].again(after: 0, attempts: 1)]) == [.again])
      #expect(try await under.settle([held[1].ends(.sent)]) == [.lost])
      #expect(try await under.depth() == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Identities are the same whoever claims and different for each delivery`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let ids = try await under.phones(host, 3)
      let foreign = try await under.phone(other)
      for event in [Event.alert(1, id: "n"), .alert(2, id: "n"), .dismissal(0, id: "n")] {
        try await under.send(event, host, ids)
        try await under.send(event, other, [foreign])
      }
      let first = try await under.claim(owner: 1).deliveries
      #expect(Set(first.map(\.identity)).count == 12)
      try await under.advance(30_001)
      let third = try await under.open()
      let again = try await third.claim(.fcm, owner: 2, limit: ClaimLimit(batches: 100), lease: 30_000, from: .bottom)
        .deliveries
      #expect(again.map(\.identity) == first.map(\.identity))
    }
  }
}
