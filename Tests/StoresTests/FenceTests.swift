import Contract
import Testing

@testable import Stores

/// Rulings 5: what a dismissal does to alerts.
@Suite struct FenceTests {
  @Test(arguments: StoreKind.allCases)
  func `An alert at or below the fence is queued and never sent`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      #expect(try await under.send(.dismissal(5, id: "n"), host, [id]) == [.queued])
      for seq in [0, 4, 5, 6, 7] as [Int64] {
        #expect(try await under.send(.alert(seq, id: "n"), host, [id]) == [.queued])
      }
      #expect(
        try await under.deliver().map(\.text)
          == [Event.dismissal(5, id: "n"), .alert(6, id: "n"), .alert(7, id: "n")].map(\.payload))
      #expect(try await under.depth() == 0)
      // A repeat, for a new phone as well.
      let late = try await under.phone(host, "late")
      #expect(try await under.send(.alert(4, id: "n"), host, [id, late]) == [.queued, .queued])
      #expect(try await under.deliver().isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A pending alert is cancelled on every phone of the host and the dismissal sent`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = [try await under.phone(host, "a"), try await under.phone(host, "b", route: .apnsProduction)]
      try await under.send(.alert(1, id: "n"), host, ids)
      try await under.send(.alert(2, id: "n"), host, ids)
      try await under.send(.alert(4, id: "n"), host, ids)
      // Named are only some of the phones; the fence is the host's.
      #expect(try await under.send(.dismissal(3, id: "n"), host, [ids[0]]) == [.queued])
      let delivered = try await under.deliver()
      #expect(
        delivered.filter { $0.route == .fcm }.map(\.text)
          == [Event.alert(4, id: "n").payload, Event.dismissal(3, id: "n").payload])
      #expect(delivered.filter { $0.route == .apnsProduction }.map(\.text) == [Event.alert(4, id: "n").payload])
      #expect(try await under.depth() == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Claims count what a dismissal cancelled`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      try await under.send(.alert(1, id: "n"), host, ids)
      try await under.send(.dismissal(1, id: "n"), host, [ids[0]])
      let claim = try await under.claim()
      #expect(claim.deliveries.map(\.text) == [Event.dismissal(1, id: "n").payload])
      #expect(claim.ended == [.cancelled: 3])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A fence is never lowered, and a dismissal is not held back by one`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      for seq in [10, 5, 9] as [Int64] {
        #expect(try await under.send(.dismissal(seq, id: "n"), host, [id]) == [.queued])
      }
      #expect(try await under.send(.alert(8, id: "n"), host, [id]) == [.queued])
      #expect(try await under.send(.alert(10, id: "n"), host, [id]) == [.queued])
      #expect(
        try await under.deliver().map(\.text) == [10, 5, 9].map { Event.dismissal($0, id: "n").payload })
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A higher dismissal raises the fence`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.dismissal(5, id: "n"), host, [id])
      try await under.send(.alert(8, id: "n"), host, [id])
      try await under.send(.dismissal(9, id: "n"), host, [id])
      #expect(try await under.deliver().map(\.text) == [5, 9].map { Event.dismissal($0, id: "n").payload })
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Other ids, epochs, hosts and alerts without an id are not fenced`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let id = try await under.phone(host)
      let foreign = try await under.phone(other)
      let spared: [Event] = [.alert(1, id: "N"), .alert(1, epoch: "next", id: "n"), .alert(2), .alert(3, id: "m")]
      for event in spared { try await under.send(event, host, [id]) }
      try await under.send(.alert(1, id: "n"), other, [foreign])
      try await under.send(.dismissal(9, id: "n"), host, [id])
      try await under.send(.alert(4), host, [id])
      let delivered = try await under.deliver()
      #expect(
        delivered.filter { $0.host == host }.map(\.text)
          == (spared + [.dismissal(9, id: "n"), .alert(4)]).map(\.payload))
      #expect(delivered.filter { $0.host == other }.count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `An alert in flight is cancelled at the second look, and its dismissal follows it`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.alert(1, id: "n"), host, [id])
      let alert = try await under.claimOne(owner: 1)
      guard case .send = try await under.store.recheck([alert])[0] else { throw Unexpected("cancelled too early") }
      try await under.send(.dismissal(1, id: "n"), host, [id])
      #expect(try await under.store.recheck([alert]) == [.cancelled])
      // Nobody else may send the dismissal while the alert may still go out.
      #expect(try await under.claim(owner: 2).deliveries.isEmpty)
      #expect(try await under.settle([alert.ends(.sent)]) == [.ended])
      let dismissal = try await under.claimOne(owner: 2)
      #expect(dismissal.text == Event.dismissal(1, id: "n").payload)
      guard case .send = try await under.store.recheck([dismissal])[0] else { throw Unexpected("cancelled itself") }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `An alert that waits for a retry is cancelled too`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.alert(1, id: "n"), host, [id])
      try await under.settle([try await under.claimOne().again(after: 5_000, attempts: 1)])
      try await under.send(.dismissal(1, id: "n"), host, [id])
      #expect(try await under.deliver().map(\.text) == [Event.dismissal(1, id: "n").payload])
      try await under.advance(5_000)
      let claim = try await under.claim()
      #expect(claim.deliveries.isEmpty)
      #expect(claim.ended == [.cancelled: 1])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A fence outlives payloads and lasts 24 hours`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.dismissal(5, id: "n"), host, [id])
      try await under.deliver()
      try await under.advance(24 * .hour - 1)
      for step in SweepStep.allCases { try await under.sweep(step) }
      #expect(try await under.send(.alert(4, id: "n"), host, [id]) == [.queued])
      #expect(try await under.deliver().isEmpty)
      try await under.advance(2)
      #expect(try await under.sweep(.fences) == ["push_dismissed_events": 1])
      #expect(try await under.send(.alert(3, id: "n"), host, [id]) == [.queued])
      #expect(try await under.deliver().count == 1)
    }
  }
}
