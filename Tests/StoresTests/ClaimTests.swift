import Contract
import Loop
import Testing

@testable import Stores

/// Rulings 6.1 and 6.2: who may send what, and in which order.
@Suite struct ClaimTests {
  @Test(arguments: StoreKind.allCases)
  func `Nothing is claimed where nothing is due`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let claim = try await under.claim()
      #expect(claim.deliveries.isEmpty && claim.ended.isEmpty && claim.looked == 0)
      #expect(try await under.store.depth() == QueueDepth(deliveries: 0, oldestDue: 0))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A claim takes one route's deliveries`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      var ids: [Route: String] = [:]
      for route in Route.allCases { ids[route] = try await under.phone(host, "\(route)", route: route) }
      try await under.send(.alert(1), host, Array(ids.values))
      // Routes do not wait for one another, whoever holds them.
      for (owner, route) in Route.allCases.enumerated() {
        let delivery = try await under.claimOne(route, owner: Int64(owner + 1))
        #expect(delivery.registrationId == ids[route])
        #expect(delivery.route == route)
      }
    }
  }

  @Test(arguments: StoreKind.allCases, [1, 3, 100])
  func `Within a host deliveries come in order of admission`(on kind: StoreKind, limit: Int) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      var expected: [String: [String]] = [:]
      for seq in 0..<40 as Range<Int64> {
        let event: Event = seq % 3 == 2 ? .dismissal(seq, id: "n\(seq)") : .alert(seq)
        let named = [ids, [ids[0]], [ids[1]]][Int(seq % 5 % 3)]
        try await under.send(event, host, named)
        for id in named { expected[id, default: []].append(event.payload) }
        if seq % 7 == 6 { try await under.advance(seq) }
      }
      let delivered = try await under.deliver(limit: limit)
      for id in ids { #expect(delivered.filter { $0.registrationId == id }.map(\.text) == expected[id]) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Events of one call come in its order`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      let events = (0..<64).map { Event.alert((Int64($0) * 37) % 64) }
      _ = try await under.send(events, host, ids)
      let delivered = try await under.deliver(limit: 7)
      for id in ids {
        #expect(delivered.filter { $0.registrationId == id }.map(\.text) == events.map(\.payload))
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `The limit counts batches, and an owner may take more of a host that it holds`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 20)
      for seq in 1...3 as ClosedRange<Int64> { try await under.send(.alert(seq), host, ids) }
      for seq in 1...3 as ClosedRange<Int64> {
        let claim = try await under.claim(limit: 1)
        #expect(claim.looked == 1)
        #expect(claim.deliveries.map(\.registrationId).sorted() == ids.sorted())
        #expect(claim.deliveries.allSatisfy { $0.text == Event.alert(seq).payload })
        #expect(Set(claim.deliveries.map(\.batch)).count == 1)
      }
      #expect(try await under.claim().deliveries.isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A host that one owner holds is left out for others until all is settled`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let ids = try await under.phones(host, 2)
      let foreign = try await under.phone(other)
      try await under.send(.alert(1), host, ids)
      let held = try await under.claim(owner: 1).deliveries
      #expect(held.count == 2)
      try await under.send(.alert(2), host, [ids[0]])
      try await under.send(.alert(1), other, [foreign])
      let theirs = try await under.claim(owner: 2)
      #expect(theirs.deliveries.map(\.registrationId) == [foreign])
      try await under.settle([held[0].ends(.sent)])
      #expect(try await under.claim(owner: 2).deliveries.isEmpty)
      try await under.settle([held[1].ends(.failed)])
      #expect(try await under.claim(owner: 2).deliveries.map(\.text) == [Event.alert(2).payload])
      // The holder of today is as exclusive as that of yesterday.
      try await under.send(.alert(3), host, ids)
      #expect(try await under.claim(owner: 1).deliveries.isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Many owners at once never hold one host together and deliver each thing once`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      var expected: [String: [String]] = [:]
      var hosts: [Int64: Host] = [:]
      for number in 0..<8 {
        let host = try await under.host("host \(number)")
        hosts[host.number] = host
        let ids = try await under.phones(host, 2)
        _ = try await under.send((0..<12).map { .alert($0) }, host, ids)
        for id in ids { expected[id] = (0..<12).map { Event.alert($0).payload } }
      }
      let watch = Watch()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for owner in 1...4 as ClosedRange<Int64> {
          group.addTask {
            while try await under.depth() > 0 {
              let claim = try await under.claim(owner: owner, limit: 3)
              watch.take(claim.deliveries, owner)
              // The host is free from the moment of the settlement, so it is let go before.
              watch.letGo(claim.deliveries, owner)
              let settled = try await under.settle(claim.deliveries.map { $0.ends(.sent) }, owner: owner)
              #expect(settled.allSatisfy { $0 == .ended })
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(watch.trespasses == 0)
      #expect(watch.taken == expected)
    }
  }

  /// Who holds which host, and what each phone was given.
  private final class Watch: Sendable {
    private let state = Locked<(holders: [Int64: Int64], taken: [String: [String]], trespasses: Int)>(([:], [:], 0))

    func take(_ deliveries: [ClaimedDelivery], _ owner: Int64) {
      state.withLock { state in
        for delivery in deliveries {
          if state.holders[delivery.host.number, default: owner] != owner { state.trespasses += 1 }
          state.holders[delivery.host.number] = owner
          state.taken[delivery.registrationId, default: []].append(delivery.text)
        }
      }
    }

    func letGo(_ deliveries: [ClaimedDelivery], _ owner: Int64) {
      state.withLock { state in
        for delivery in deliveries where state.holders[delivery.host.number] == owner {
          state.holders[delivery.host.number] = nil
        }
      }
    }

    var trespasses: Int { state.withLock { $0.trespasses } }
    var taken: [String: [String]] { state.withLock { $0.taken } }
  }

  @Test(arguments: StoreKind.allCases)
  func `Of many owners that reach for one host, one gets it`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      _ = try await under.send((0..<20).map { .alert($0) }, host, [id])
      for _ in 0..<5 {
        let claims = try await withThrowingTaskGroup(of: [ClaimedDelivery].self) { group in
          for owner in 1...6 as ClosedRange<Int64> {
            group.addTask { try await under.claim(owner: owner, limit: 3).deliveries }
          }
          return try await group.reduce(into: [[ClaimedDelivery]]()) { if !$1.isEmpty { $0.append($1) } }
        }
        // All may have stepped back before one another; then the next look finds it.
        #expect(claims.count <= 1)
        try await under.advance(30_001)
      }
      #expect(try await under.deliver().map(\.text) == (0..<20).map { Event.alert($0).payload })
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Following the low-water mark finds all that comes later`(on kind: StoreKind) async throws {
    try await kind.use { under in
      var mark = LowWater.bottom
      var sent: Set<String> = []
      var found: Set<String> = []
      var hosts: [(Host, String)] = []
      for number in 0..<4 {
        let host = try await under.host("host \(number)")
        hosts.append((host, try await under.phone(host)))
      }
      for round in 0..<30 as Range<Int64> {
        for (number, (host, id)) in hosts.enumerated() where (Int(round) + number) % 3 == 0 {
          // A burst runs ahead in the order; whoever comes after it must still be seen.
          let events = (0..<(number == 0 ? 10 : 1)).map { Event.alert(round * 100 + $0) }
          _ = try await under.send(events, host, [id])
          sent.formUnion(events.map { "\(id) \($0.payload)" })
        }
        try await under.advance(round * 100)
        while true {
          let claim = try await under.claim(limit: 4, from: mark)
          mark = claim.lowWater
          found.formUnion(claim.deliveries.map { "\($0.registrationId) \($0.text)" })
          try await under.settle(claim.deliveries.map { $0.ends(.sent) })
          if claim.looked == 0 { break }
        }
        #expect(found == sent)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A claim ends where it has its deliveries, and takes of each host its first, as many as one may have`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      var hosts: [(Host, [String])] = []
      for number in 0..<3 {
        let host = try await under.host("host \(number)")
        hosts.append((host, try await under.phones(host, 2)))
      }
      for seq in 0..<4 as Range<Int64> {
        for (host, phones) in hosts { try await under.send(.alert(seq), host, phones) }
      }
      func claim(_ limit: ClaimLimit) async throws -> [Int64: [String]] {
        Dictionary(grouping: try await under.claim(limit: limit).deliveries, by: \.host.number)
          .mapValues { $0.map(\.text) }
      }
      let (first, second, third) = (hosts[0].0.number, hosts[1].0.number, hosts[2].0.number)
      func alerts(_ numbers: ClosedRange<Int64>) -> [String] {
        numbers.flatMap { [Event.alert($0).payload, Event.alert($0).payload] }
      }
      // A batch is taken whole, so the last may exceed what is asked for.
      #expect(
        try await claim(ClaimLimit(batches: 100, deliveries: 3)) == [first: alerts(0...0), second: alerts(0...0)])
      #expect(
        try await claim(ClaimLimit(batches: 100, ofHost: 3, without: [second]))
          == [first: alerts(1...2), third: alerts(0...1)])
      #expect(
        try await claim(ClaimLimit(batches: 100, deliveries: 5, ofHost: 1, without: [first, third]))
          == [second: alerts(1...1)])
      // Of a host that had its share the rest counts for nobody.
      #expect(
        try await claim(ClaimLimit(batches: 100, deliveries: 6, ofHost: 2))
          == [first: alerts(3...3), second: alerts(2...2), third: alerts(2...2)])
      #expect(try await claim(ClaimLimit(batches: 100)) == [second: alerts(3...3), third: alerts(3...3)])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Rows that another owner blocks do not hide what lies behind them`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      _ = try await under.send((0..<40).map { .alert($0) }, host, [id])
      #expect(try await under.claim(owner: 1, limit: 1).deliveries.count == 1)
      try await under.advance(2_000)
      let other = try await under.host("other")
      let foreign = try await under.phone(other)
      try await under.send(.alert(1), other, [foreign])
      var mark = LowWater.bottom
      var found: [String] = []
      for _ in 0..<20 where found.isEmpty {
        let claim = try await under.claim(owner: 2, limit: 4, from: mark)
        mark = claim.lowWater
        found += claim.deliveries.map(\.registrationId)
      }
      #expect(found == [foreign])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Depth counts deliveries to come, and how long the oldest due one waits`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      try await under.send(.alert(1), host, ids)
      try await under.send(.alert(2), host, [ids[0]])
      try await under.advance(700)
      #expect(try await under.second.depth() == QueueDepth(deliveries: 4, oldestDue: 700))
      let claim = try await under.claim()
      #expect(try await under.store.depth() == QueueDepth(deliveries: 4, oldestDue: 0))
      try await under.settle([claim.deliveries[0].ends(.sent), claim.deliveries[1].again(after: 1_000, attempts: 1)])
      #expect(try await under.store.depth() == QueueDepth(deliveries: 3, oldestDue: 0))
      try await under.settle(claim.deliveries.dropFirst(2).map { $0.ends(.sent) })
      try await under.advance(1_300)
      #expect(try await under.store.depth() == QueueDepth(deliveries: 1, oldestDue: 300))
    }
  }
}
