import Contract
import Testing

@testable import Stores

/// Rulings 4.4 and 6.11: an event lives five minutes at most.
@Suite struct DeadlineTests {
  @Test(arguments: StoreKind.allCases)
  func `The deadline is the smaller of the host's and five minutes`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      let start = under.now
      let wishes: [Int64?] = [nil, start + 1, start + 299_999, start + 300_000, start + 300_001, 9_007_199_254_740_991]
      for (seq, wish) in wishes.enumerated() {
        #expect(try await under.send(.alert(Int64(seq)).with(\.expiresAt, wish), host, [id]) == [.queued])
      }
      let most = start + 300_000
      #expect(try await under.deliver().map(\.expiresAt) == [most, start + 1, start + 299_999, most, most, most])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `An event whose deadline has passed is an error and leaves nothing`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let dead = try await under.phone(host, "dead")
      try await under.kill(host, dead)
      let id = try await under.phone(host)
      for late in [0, under.now - 1] as [Int64] {
        for event in [Event.alert(1), .dismissal(7, id: "n")] {
          #expect(
            try await under.send(event.with(\.expiresAt, late), host, [id, dead, "unknown"]) == [.error, .dead, .error])
        }
      }
      #expect(try await under.depth() == 0)
      // Neither identity nor fence was taken.
      #expect(try await under.send(Event.alert(1, id: "n"), host, [id]) == [.queued])
      #expect(try await under.deliver().count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `The first deadline is kept when the event is sent again`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      let deadline = under.now + 5 * .minute
      try await under.send(.alert(1), host, [ids[0]])
      try await under.advance(2 * .minute)
      #expect(try await under.send(.alert(1), host, ids) == [.queued, .queued])
      #expect(try await under.deliver().map(\.expiresAt) == [deadline, deadline])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `After the deadline a repeat is queued for those who had it and an error for others`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      try await under.send(.alert(1), host, [ids[0]])
      try await under.advance(5 * .minute + 1)
      #expect(try await under.send(.alert(1), host, [ids[1], ids[0]]) == [.error, .queued])
      #expect(try await under.deliver().isEmpty)
      #expect(try await under.depth() == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A delivery is claimed until its deadline and expires after it`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      let wish = under.now + .minute
      try await under.send(.alert(1).with(\.expiresAt, wish), host, ids)
      try await under.send(.alert(2), host, [ids[0]])
      try await under.advance(.minute - 1)
      let claim = try await under.claim()
      #expect(claim.deliveries.count == 4)
      #expect(claim.ended.isEmpty)
      try await under.store.release(Array(Set(claim.deliveries.map(\.batch))), owner: 1)
      try await under.advance(2)
      let late = try await under.claim(owner: 2)
      #expect(late.deliveries.map(\.text) == [Event.alert(2).payload])
      #expect(late.ended == [.expired: 3])
      #expect(try await under.depth() == 1)
      // It is over for good.
      try await under.advance(.hour)
      #expect(try await under.claim(owner: 3).ended == [.expired: 1])
      #expect(try await under.depth() == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Deliveries that nobody claims expire by housekeeping, of every route`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      var ids: [String] = []
      for route in Route.allCases { ids.append(try await under.phone(host, "\(route)", route: route)) }
      try await under.send(.alert(1), host, ids)
      #expect(try await under.store.expire(limit: 100) == 0)
      try await under.advance(5 * .minute - 1)
      #expect(try await under.store.expire(limit: 100) == 0)
      try await under.advance(2)
      try await under.send(.alert(2), host, ids)
      #expect(try await under.store.expire(limit: 2) == 2)
      #expect(try await under.second.expire(limit: 2) == 1)
      #expect(try await under.store.expire(limit: 2) == 0)
      #expect(try await under.deliver().map(\.text) == Route.allCases.map { _ in Event.alert(2).payload })
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What somebody holds does not expire under his hands`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      try await under.send(.alert(1).with(\.expiresAt, under.now + 10_000), host, ids)
      let claim = try await under.claim(lease: 30_000)
      try await under.advance(20_000)
      #expect(try await under.store.expire(limit: 100) == 0)
      #expect(try await under.sweep(.deliveries).values.reduce(0, +) == 0)
      #expect(try await under.settle([claim.deliveries[0].ends(.sent)]) == [.ended])
      // His lease runs out with one of the two unsettled.
      try await under.advance(10_001)
      #expect(try await under.store.expire(limit: 100) == 1)
      #expect(try await under.settle([claim.deliveries[1].ends(.sent)]) == [.lost])
      #expect(try await under.depth() == 0)
    }
  }
}
