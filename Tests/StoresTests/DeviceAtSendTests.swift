import Contract
import Testing

@testable import Stores

/// Rulings 6.3 and 6.9: the registration as it is when a delivery goes out, and when a provider calls its token dead.
@Suite struct DeviceAtSendTests {
  private func recheck(_ under: StoreUnderTest, _ delivery: ClaimedDelivery) async throws -> Recheck {
    let checks = try await under.second.recheck([delivery])
    try #require(checks.count == 1)
    return checks[0]
  }

  @Test(arguments: StoreKind.allCases)
  func `A new token is used by what was admitted before it`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host, token: "old")
      try await under.send(.alert(1), host, [id])
      try await under.advance(1_000)
      try await under.phone(host, token: "new")
      let delivery = try await under.claimOne()
      #expect(delivery.token == "new")
      #expect(delivery.registeredAt == under.now)
      try await under.advance(1_000)
      try await under.phone(host, token: "newest")
      #expect(
        try await recheck(under, delivery) == .send(token: "newest", registeredAt: under.now, isProven: false))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A deleted registration cancels its deliveries, before the claim and after`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      try await under.send(.alert(1), host, ids)
      _ = try await under.store.unregister(host, registrationId: ids[0])
      let claim = try await under.claim()
      #expect(claim.deliveries.map(\.registrationId) == [ids[1]])
      #expect(claim.ended == [.cancelled: 1])
      _ = try await under.store.unregister(host, registrationId: ids[1])
      #expect(try await recheck(under, claim.deliveries[0]) == .cancelled)
      #expect(try await under.settle([claim.deliveries[0].ends(.cancelled)]) == [.ended])
      #expect(try await under.depth() == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A dead registration cancels its deliveries, before the claim and after`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      for seq in 1...3 as ClosedRange<Int64> { try await under.send(.alert(seq), host, [id]) }
      let held = try await under.claim(limit: 2).deliveries
      try #require(held.count == 2)
      var death = held[0].ends(.dead, detail: "Unregistered")
      death.kills = (held[0].token, nil)
      #expect(try await under.settle([death]) == [.ended])
      #expect(try await recheck(under, held[1]) == .cancelled)
      try await under.settle([held[1].ends(.cancelled)])
      let claim = try await under.claim()
      #expect(claim.deliveries.isEmpty)
      #expect(claim.ended == [.cancelled: 1])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A phone that changed its platform is not reached the old way`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host, route: .apnsProduction, token: "0a0b")
      try await under.send(.alert(1), host, [id])
      try await under.send(.alert(2), host, [id])
      let held = try await under.claim(.apnsProduction, limit: 1).deliveries
      try await under.phone(host, route: .fcm, token: "fcm")
      try #require(held.count == 1)
      #expect(try await recheck(under, held[0]) == .cancelled)
      try await under.settle([held[0].ends(.cancelled)])
      #expect(try await under.claim(.apnsProduction).deliveries.isEmpty)
      try await under.send(.alert(3), host, [id])
      #expect(try await under.deliver(routes: [.fcm]).last?.text == Event.alert(3).payload)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A second look answers for each delivery in its place`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      try await under.send(.alert(1, id: "n"), host, [ids[0], ids[1]])
      try await under.send(.alert(2, id: "m"), host, [ids[1], ids[2]])
      let held = try await under.claim().deliveries
      try #require(held.count == 4)
      try await under.send(.dismissal(9, id: "n"), host, [ids[0]])
      try await under.phone(host, "2", token: "new")
      let checks = try await under.store.recheck([held[3], held[0], held[2], held[1]])
      #expect(checks[1] == .cancelled && checks[3] == .cancelled)
      for (check, delivery) in [(checks[0], held[3]), (checks[2], held[2])] {
        guard case .send(let token, _, isProven: false) = check else { throw Unexpected("cancelled") }
        #expect(token == (delivery.registrationId == ids[2] ? "new" : delivery.token))
      }
      #expect(try await under.store.recheck([]) == [])
    }
  }

  /// A claimed delivery, what happens to its phone meanwhile, and a provider's word that the token is dead.
  private func isDead(
    _ kind: StoreKind, token: String = "token", before: Int64? = nil, route: Route = .apnsProduction,
    meanwhile: (StoreUnderTest, Host) async throws -> Void = { _, _ in }
  ) async throws -> Bool {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let bystanders = [
        try await under.phone(other, route: .apnsProduction, token: "token"),
        try await under.phone(host, "second", route: .apnsProduction, token: "token"),
      ]
      let start = under.now
      let id = try await under.phone(host, route: .apnsProduction, token: "token")
      try await under.send(.alert(1), host, [id])
      let delivery = try await under.claimOne(.apnsProduction)
      try await meanwhile(under, host)
      var death = delivery.ends(.dead)
      death.kills = (token, before.map { start + $0 })
      #expect(try await under.settle([death]) == [.ended])
      // Another registration of the same token lives on until a provider speaks of it.
      for device in try await under.store.devices(of: other) + under.store.devices(of: host)
      where bystanders.contains(device.registrationId) {
        #expect(!device.isDead)
      }
      let device = try await under.store.devices(of: host).first { $0.registrationId == id }
      let isDead = try #require(device).isDead
      let answer: [SendResult] = [isDead ? .dead : .queued]
      #expect(try await under.second.admit([Event.alert(2).admission(host, [id])]).results == [answer])
      return isDead
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A token that was sent to and is still the phone's dies`(on kind: StoreKind) async throws {
    #expect(try await isDead(kind))
  }

  @Test(arguments: StoreKind.allCases)
  func `A phone that has another token by now lives`(on kind: StoreKind) async throws {
    #expect(
      try await !isDead(kind) { under, host in
        try await under.phone(host, route: .apnsProduction, token: "new")
      })
    #expect(try await !isDead(kind, token: "TOKEN"))
    #expect(try await !isDead(kind, token: "token "))
    // It may be told of the token that the second look gave.
    #expect(
      try await isDead(kind, token: "new") { under, host in
        try await under.phone(host, route: .apnsProduction, token: "new")
      })
  }

  @Test(arguments: [Route.apnsSandbox, .fcm], StoreKind.allCases)
  func `A token that belongs to another environment or platform by now lives`(
    route: Route, on kind: StoreKind
  ) async throws {
    #expect(try await !isDead(kind) { under, host in try await under.phone(host, route: route, token: "token") })
  }

  @Test(arguments: StoreKind.allCases)
  func `A registration as late as the provider's word or later lives`(on kind: StoreKind) async throws {
    #expect(try await isDead(kind, before: 1))
    #expect(try await !isDead(kind, before: 0))
    #expect(try await !isDead(kind, before: -1))
    #expect(
      try await !isDead(kind, before: 5_000) { under, host in
        try await under.advance(5_000)
        try await under.phone(host, route: .apnsProduction, token: "token")
      })
    #expect(
      try await isDead(kind, before: 5_001) { under, host in
        try await under.advance(5_000)
        try await under.phone(host, route: .apnsProduction, token: "token")
      })
  }

  @Test(arguments: StoreKind.allCases)
  func `A token is proven once accepted, until another takes its place`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host, token: "t1")
      var seq: Int64 = 0
      func next() async throws -> ClaimedDelivery {
        seq += 1
        try await under.send(.alert(seq), host, [id])
        return try await under.claimOne()
      }
      func prove(_ delivery: ClaimedDelivery, _ token: String) async throws {
        var settlement = delivery.ends(.sent)
        settlement.proves = token
        #expect(try await under.settle([settlement]) == [.ended])
      }
      let first = try await next()
      #expect(!first.isProven)
      try await prove(first, "t1")
      var delivery = try await next()
      #expect(delivery.isProven)
      guard case .send(_, _, isProven: true) = try await recheck(under, delivery) else { throw Unexpected("unproven") }
      // The same token again changes nothing; another has yet to prove itself.
      try await under.phone(host, token: "t1")
      guard case .send(_, _, isProven: true) = try await recheck(under, delivery) else { throw Unexpected("unproven") }
      try await under.phone(host, token: "t2")
      guard case .send(_, _, isProven: false) = try await recheck(under, delivery) else { throw Unexpected("proven") }
      // What was accepted was the old token.
      try await prove(delivery, "t1")
      delivery = try await next()
      #expect(!delivery.isProven)
      try await prove(delivery, "t2")
      delivery = try await next()
      #expect(delivery.isProven)
      // The same text in another world is another token.
      try await under.phone(host, route: .apnsSandbox, token: "t2")
      try await under.send(.alert(99), host, [id])
      #expect(try await !under.claimOne(.apnsSandbox).isProven)
    }
  }
}
