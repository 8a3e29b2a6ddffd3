import Contract
import Testing

@testable import Stores

/// Rulings 6.1 and 6.6: deliveries that must be tried again.
@Suite struct RetryTests {
  @Test(arguments: StoreKind.allCases)
  func `A retry is due when its wait is over, with its attempts and its identity`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      try await under.send(.alert(1).with(\.isSilent, true), host, [try await under.phone(host)])
      var delivery = try await under.claimOne()
      let first = delivery
      for (attempts, wait) in [(1, 1_000), (2, 2_345), (2, 0), (3, 60_000)] as [(Int, Int64)] {
        #expect(try await under.settle([delivery.again(after: wait, attempts: attempts)]) == [.again])
        if wait > 0 {
          try await under.advance(wait - 1)
          #expect(try await under.claim().looked == 0)
          try await under.advance(1)
        }
        delivery = try await under.claimOne(owner: Int64(attempts))
        try await under.store.release([delivery.batch], owner: Int64(attempts))
        delivery = try await under.claimOne()
        #expect(delivery.attempts == attempts)
        #expect(delivery.identity == first.identity)
        #expect(delivery.payload == first.payload)
        #expect(delivery.expiresAt == first.expiresAt)
        #expect(delivery.admittedAt == first.admittedAt)
        #expect(delivery.isSilent)
      }
      #expect(try await under.settle([delivery.ends(.sent)]) == [.ended])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A waiting retry holds back neither younger deliveries nor other owners`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.alert(1), host, [id])
      try await under.send(.alert(2), host, [id])
      let held = try await under.claim(owner: 1).deliveries
      try await under.settle([held[0].again(after: 10_000, attempts: 1), held[1].again(after: 5_000, attempts: 1)])
      try await under.send(.alert(3), host, [id])
      let younger = try await under.claimOne(owner: 2)
      #expect(younger.text == Event.alert(3).payload)
      // A younger one in flight holds the due retry back, for everyone else.
      try await under.advance(5_000)
      #expect(try await under.claim(owner: 1).deliveries.isEmpty)
      try await under.settle([younger.ends(.sent)], owner: 2)
      #expect(try await under.claimOne(owner: 1).text == Event.alert(2).payload)
      try await under.advance(5_000)
      #expect(try await under.claimOne(owner: 1).text == Event.alert(1).payload)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A wait below zero gives a delivery an older place, due at once`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.alert(1), host, [id])
      try await under.advance(1_000)
      try await under.send(.alert(2), host, [id])
      let held = try await under.claim().deliveries
      try #require(held.count == 2)
      try await under.advance(5_000)
      #expect(try await under.settle([held[0].again(after: -6_000, attempts: 1, .unknown)]) == [.again])
      #expect(try await under.claim(owner: 2).deliveries.isEmpty, "the younger one is still held")
      try await under.store.release([held[1].batch], owner: 1)
      let claimed = try await under.claim(owner: 2).deliveries
      #expect(claimed.map(\.text) == [Event.alert(1).payload, Event.alert(2).payload])
      #expect(claimed.map(\.attempts) == [1, 0])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `One phone's retry is its own affair`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      try await under.send(.alert(1), host, ids)
      let held = try await under.claim().deliveries
      #expect(
        try await under.settle([held[0].ends(.sent), held[1].again(after: 2_000, attempts: 1), held[2].ends(.sent)])
          == [.ended, .again, .ended])
      try await under.advance(2_000)
      let retried = try await under.claimOne(owner: 2)
      #expect(retried.identity == held[1].identity)
      #expect(retried.attempts == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A retry that would come after the deadline expires now`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      try await under.send(.alert(1), host, ids)
      try await under.advance(60_000)
      let held = try await under.claim().deliveries
      #expect(
        try await under.settle([held[0].again(after: 240_001, attempts: 1), held[1].again(after: 239_999, attempts: 1)])
          == [.expired, .again])
      #expect(try await under.depth() == 1)
      try await under.advance(239_999)
      #expect(try await under.claimOne().identity == held[1].identity)
    }
  }
}
