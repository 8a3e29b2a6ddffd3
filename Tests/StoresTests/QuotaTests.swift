import Contract
import Testing

@testable import Stores

/// Rulings 4.3: 300 events of a host and kind within 15 minutes.
@Suite struct QuotaTests {
  private func alerts(_ numbers: Range<Int64>, epoch: String = "epoch") -> [Event] {
    numbers.map { .alert($0, epoch: epoch) }
  }

  private func dismissals(_ numbers: Range<Int64>) -> [Event] { numbers.map { .dismissal($0, id: "n\($0)") } }

  private func count(_ results: [[SendResult]], _ wanted: SendResult) -> Int {
    results.joined().reduce(0) { $0 + ($1 == wanted ? 1 : 0) }
  }

  @Test(arguments: StoreKind.allCases)
  func `The 301st event is rate limited, for each of its phones`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let dead = try await under.phone(host, "dead")
      try await under.kill(host, dead)
      let ids = try await under.phones(host, 2)
      // One was spent on the way of the dead phone.
      #expect(count(try await under.send(alerts(1..<300), host, [ids[0]]), .queued) == 299)
      #expect(try await under.deliver().count == 299)
      #expect(
        try await under.send(.alert(300), host, [ids[0], dead, "unknown", ids[1]])
          == [.rateLimited, .dead, .error, .rateLimited])
      #expect(
        try await under.second.admit([Event.alert(301).admission(host, ids)]).results == [[.rateLimited, .rateLimited]])
      #expect(try await under.depth() == 0)
      #expect(try await under.send(.alert(302), host, [dead, "unknown"]) == [.dead, .error])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Alerts, dismissals and hosts count apart`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let id = try await under.phone(host)
      let foreign = try await under.phone(other)
      // Mixed within each call, so that a shared counter would show.
      let mixed = zip(alerts(0..<310), dismissals(0..<310)).flatMap { [$0, $1] }
      let results = try await under.send(mixed, host, [id])
      #expect(results.indices.filter { results[$0] == [.queued] } == Array(0..<600))
      #expect(count(results, .rateLimited) == 20)
      #expect(try await under.send(.alert(1), other, [foreign]) == [.queued])
      #expect(try await under.send(.dismissal(1, id: "n"), other, [foreign]) == [.queued])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Exactly 300 pass however many come at once through however many processes`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      let results = try await withThrowingTaskGroup(of: [[SendResult]].self) { group in
        for number in 0..<45 as Range<Int64> {
          // Each call has eight of its own and two that its neighbour has as well.
          let events = alerts(number * 8..<number * 8 + 10)
          group.addTask { try await under[Int(number)].admit(events.map { $0.admission(host, [id]) }).results }
        }
        return try await group.reduce(into: [[SendResult]]()) { $0 += $1 }
      }
      #expect(count(results, .queued) + count(results, .rateLimited) == 450)
      #expect(try await under.depth() == 300)
      let delivered = try await under.deliver()
      #expect(Set(delivered.map(\.text)).count == 300)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `An event leaves the window 15 minutes after it came, to the millisecond`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      #expect(count(try await under.send(alerts(0..<100), host, [id]), .queued) == 100)
      try await under.advance(5 * .minute)
      #expect(count(try await under.send(alerts(100..<300), host, [id]), .queued) == 200)
      try await under.advance(10 * .minute - 1)
      #expect(try await under.send(.alert(300), host, [id]) == [.rateLimited])
      try await under.advance(1)
      #expect(count(try await under.send(alerts(300..<410), host, [id]), .queued) == 100)
      try await under.advance(5 * .minute - 1)
      #expect(try await under.send(.alert(410), host, [id]) == [.rateLimited])
      try await under.advance(1)
      #expect(count(try await under.send(alerts(410..<620), host, [id]), .queued) == 200)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A clock that steps back does not widen the window`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      #expect(count(try await under.send(alerts(0..<299), host, [id]), .queued) == 299)
      try await under.advance(-30 * .minute)
      #expect(try await under.send(.alert(299), host, [id]) == [.queued])
      try await under.advance(20 * .minute)
      #expect(try await under.send(.alert(300), host, [id]) == [.rateLimited])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Repeats and fan-out are taken at the limit and do not count`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 20)
      let first = alerts(0..<10)
      for id in ids { #expect(count(try await under.send(first, host, [id]), .queued) == 10) }
      for _ in 0..<3 { #expect(count(try await under.send(first, host, ids), .queued) == 200) }
      #expect(count(try await under.send(alerts(10..<320), host, ids), .queued) == 290 * 20)
      #expect(try await under.send(.alert(999), host, ids) == ids.map { _ in .rateLimited })
      // At the limit, what is known goes on.
      let late = try await under.phone(host, "late")
      #expect(try await under.send(first[3], host, ids + [late]) == Array(repeating: .queued, count: 21))
      try await under.deliver()
      #expect(count(try await under.send(first, host, [late]), .queued) == 10)
      #expect(try await under.depth() == 9)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What was refused does not count`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let dead = try await under.phone(host, "dead")
      try await under.kill(host, dead)
      let id = try await under.phone(host)
      try await under.advance(15 * .minute)
      #expect(count(try await under.send(alerts(0..<100), host, [dead, "unknown"]), .queued) == 0)
      let late = alerts(100..<200).map { $0.with(\.expiresAt, under.now - 1) }
      #expect(count(try await under.send(late, host, [id]), .error) == 100)
      #expect(try await under.send(.alert(0), host, [id]) == [.queued])
      let changed = Event.alert(0).with(\.content, "x")
      for _ in 0..<5 { #expect(try await under.send(changed, host, [id]) == [.error]) }
      #expect(count(try await under.send(alerts(0..<320), host, [id]), .queued) == 300)
      // A refusal for want of quota neither counts nor takes the identity.
      #expect(count(try await under.send(alerts(300..<320), host, [id]), .rateLimited) == 20)
      try await under.advance(15 * .minute)
      #expect(
        count(try await under.send(alerts(300..<610).map { $0.with(\.content, "new") }, host, [id]), .queued) == 300)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `The quota outlives delivery and housekeeping`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      #expect(count(try await under.send(alerts(0..<300), host, [id]), .queued) == 300)
      try await under.deliver()
      try await under.advance(14 * .minute)
      for step in SweepStep.allCases { try await under.sweep(step) }
      #expect(try await under.send(.alert(300), host, [id]) == [.rateLimited])
      // A day later all is forgotten, and counting starts anew.
      try await under.advance(24 * .hour)
      for step in SweepStep.allCases { try await under.sweep(step) }
      #expect(count(try await under.send(alerts(0..<301), host, [id]), .queued) == 300)
    }
  }
}
