import Contract
import Testing

@testable import Stores

/// Rulings 6.1 and 6.2: a claim whose answer never came.
@Suite struct LostClaimTests {
  @Test(arguments: StoreKind.allCases)
  func `Nothing overtakes what a lost claim took, and it comes first once it is given back`(on kind: StoreKind)
    async throws
  {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let id = try await under.phone(host)
      let elsewhere = try await under.phone(other)
      for seq in Int64(1)...2 { try await under.send(.alert(seq), host, [id]) }
      // The answer to this one is lost.
      _ = try await under.claim(owner: 1, limit: 1)
      try await under.send(.alert(3), host, [id])
      try await under.send(.alert(1), other, [elsewhere])

      let next = try await under.claim(owner: 2).deliveries
      #expect(next.map(\.registrationId) == [elsewhere], "its host is left alone")
      #expect(try await under.store.disown(.fcm, owners: [1], known: []) == 1)
      let rest = try await under.claim(owner: 2).deliveries
      #expect(rest.map(\.text) == (1...3).map { Event.alert($0).payload })
      #expect(try await under.settle(rest.map { $0.ends(.sent) }, owner: 2) == [.ended, .ended, .ended])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What is known, of another owner, of another route, or lapsed is left alone`(on kind: StoreKind) async throws {
    try await kind.use { under in
      var held: [ClaimedDelivery] = []
      for number in Int64(1)...4 {
        let host = try await under.host("host \(number)")
        try await under.send(.alert(1), host, [try await under.phone(host, route: number == 4 ? .apnsSandbox : .fcm)])
        held += try await under.claim(number == 4 ? .apnsSandbox : .fcm, owner: number == 3 ? 3 : 1).deliveries
      }
      try #require(held.count == 4)
      #expect(try await under.store.disown(.fcm, owners: [1, 7], known: [held[0].batch]) == 1)
      #expect(try await under.store.disown(.fcm, owners: [1, 7], known: [held[0].batch]) == 0)
      // The second was given back; the others are whose they were.
      let settled = try await under.settle([held[0], held[1], held[3]].map { $0.ends(.sent) })
      #expect(settled == [.ended, .lost, .ended])
      #expect(try await under.settle([held[2].ends(.sent)], owner: 3) == [.ended])

      let again = try await under.claimOne(owner: 5)
      #expect(again.identity == held[1].identity)
      try await under.advance(30_000)
      #expect(try await under.store.disown(.fcm, owners: [5], known: []) == 0, "anyone may have it already")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A key of an earlier claim is not known any more`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      try await under.send(.alert(1), host, [try await under.phone(host)])
      let first = try await under.claimOne(owner: 1)
      try await under.advance(30_000)
      _ = try await under.claimOne(owner: 1)
      #expect(try await under.store.disown(.fcm, owners: [1], known: [first.batch]) == 1)
    }
  }
}
