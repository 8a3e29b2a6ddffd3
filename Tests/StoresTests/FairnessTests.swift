import Contract
import Testing

@testable import Stores

/// Rulings 6.1: no host's burst delays another host's delivery by more than its fair share.
@Suite struct FairnessTests {
  /// Claims and settles batch by batch; the host of each batch, in the order of the claims.
  private func order(_ under: StoreUnderTest, limit: Int) async throws -> [Host] {
    var hosts: [Host] = []
    var last: BatchKey?
    for delivery in try await under.deliver(limit: limit, routes: [.fcm]) where delivery.batch != last {
      hosts.append(delivery.host)
      last = delivery.batch
    }
    return hosts
  }

  @Test(arguments: StoreKind.allCases)
  func `One event that comes after a burst of 300 to 20 phones is among the first`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let newcomer = try await under.host("newcomer")
      let ids = try await under.phones(host, 20)
      let id = try await under.phone(newcomer)
      _ = try await under.send((0..<300).map { .alert($0) }, host, ids)
      try await under.send(.alert(1), newcomer, [id])
      let order = try await order(under, limit: 8)
      #expect(order.count == 301)
      let place = try #require(order.firstIndex(of: newcomer))
      #expect(place <= 4)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A burst that took a while does not push itself before others either`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 20)
      for round in 0..<5 as Range<Int64> {
        _ = try await under.send((0..<60).map { .alert(round * 60 + $0) }, host, ids)
        try await under.advance(20)
      }
      var newcomers: [Host] = []
      for number in 0..<10 {
        let newcomer = try await under.host("newcomer \(number)")
        newcomers.append(newcomer)
        try await under.send(.alert(1), newcomer, [try await under.phone(newcomer)])
      }
      let order = try await order(under, limit: 8)
      #expect(order.count == 310)
      let places = order.indices.filter { newcomers.contains(order[$0]) }
      #expect(places.count == 10)
      #expect(try #require(places.last) < 20)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Alerts and dismissals of one host share its turn`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let newcomer = try await under.host("newcomer")
      let ids = try await under.phones(host, 20)
      let id = try await under.phone(newcomer)
      for start in stride(from: 0, to: 100, by: 10) as StrideTo<Int64> {
        _ = try await under.send((start..<start + 10).map { .alert($0) }, host, ids)
        _ = try await under.send((start..<start + 10).map { .dismissal($0, id: "n\($0)") }, host, ids)
      }
      try await under.send(.alert(1), newcomer, [id])
      let order = try await order(under, limit: 8)
      #expect(order.count == 201)
      #expect(try #require(order.firstIndex(of: newcomer)) <= 4)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Two equal bursts are served in turn, whichever came first`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let first = try await under.host("first")
      let second = try await under.host("second")
      let ids = [try await under.phones(first, 4), try await under.phones(second, 4)]
      _ = try await under.send((0..<100).map { .alert($0) }, first, ids[0])
      _ = try await under.send((0..<100).map { .alert($0) }, second, ids[1])
      var lead = 0
      for host in try await order(under, limit: 8) {
        lead += host == first ? 1 : -1
        #expect(abs(lead) <= 3)
      }
      #expect(lead == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Events to many phones weigh more than events to one`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let heavy = try await under.host("heavy")
      let light = try await under.host("light")
      let ids = [try await under.phones(heavy, 20), try await under.phones(light, 1)]
      _ = try await under.send((0..<50).map { .alert($0) }, heavy, ids[0])
      _ = try await under.send((0..<50).map { .alert($0) }, light, ids[1])
      let order = try await order(under, limit: 8)
      let end = try #require(order.lastIndex(of: light))
      #expect(order[...end].count { $0 == heavy } < 25)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Adding phones one by one to known events counts as the host's turn too`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let newcomer = try await under.host("newcomer")
      let ids = try await under.phones(host, 20)
      let id = try await under.phone(newcomer)
      let events = (0..<10).map { Event.alert($0) }
      for id in ids { _ = try await under.send(events, host, [id]) }
      try await under.advance(300)
      try await under.send(.alert(1), newcomer, [id])
      let order = try await order(under, limit: 8)
      #expect(order.count == 201)
      #expect(try #require(order.firstIndex(of: newcomer)) <= 25)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A burst alone is served at once and in whole`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 20)
      _ = try await under.send((0..<300).map { .alert($0) }, host, ids)
      #expect(try await under.claim(limit: 1_000).deliveries.count == 6_000)
    }
  }
}
