import Contract
import Testing

@testable import Stores

/// Rulings 4.1, 4.2, 4.5 and 4.6.
@Suite struct AdmissionTests {
  @Test(arguments: StoreKind.allCases)
  func `Each registration has its answer, in the order of the request`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let dead = try await under.phone(host, "dead")
      try await under.kill(host, dead)
      let ids = [
        "unknown", try await under.phone(host, "1"), dead, try await under.phone(other, "foreign"),
        try await under.phone(host, "2", route: .apnsProduction), "",
        try await under.phone(host, "3", route: .apnsSandbox),
      ]
      let expected: [SendResult] = [.error, .queued, .dead, .error, .queued, .error, .queued]
      #expect(try await under.send(.alert(1), host, ids) == expected)
      #expect(try await under.send(.alert(2), host, ids.reversed()) == expected.reversed())
      let delivered = try await under.deliver()
      #expect(Set(delivered.map(\.registrationId)) == [ids[1], ids[4], ids[6]])
      #expect(delivered.count == 6)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What was queued is there for another process, whole`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host, route: .apnsSandbox, token: "token")
      let registered = under.now
      try await under.advance(.second)
      let event = Event.alert(7, id: "n").with(\.isSilent, true).with(\.content, "é\u{0}😀")
      #expect(try await under.send(event, host, [id]) == [.queued])
      try await under.advance(.second)
      let delivery = try await under.claimOne(.apnsSandbox, owner: 2)
      #expect(delivery.host == host)
      #expect(delivery.registrationId == id)
      #expect(delivery.route == .apnsSandbox)
      #expect(delivery.batch.route == .apnsSandbox)
      #expect(delivery.token == "token")
      #expect(delivery.registeredAt == registered)
      #expect(!delivery.isProven)
      #expect(delivery.attempts == 0)
      #expect(delivery.isSilent)
      #expect(delivery.admittedAt == under.now - .second)
      #expect(delivery.expiresAt == under.now - .second + 5 * .minute)
      #expect(delivery.claimedAt == under.now)
      #expect(delivery.identity.count == 16)
      #expect(delivery.payload == Array(event.payload.utf8))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A send that reaches no phone leaves nothing behind`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let dead = try await under.phone(host, "dead")
      try await under.kill(host, dead)
      let foreign = try await under.phone(other)
      for event in [Event.alert(1, id: "n"), .dismissal(9, id: "n")] {
        #expect(try await under.send(event, host, [dead, foreign, "unknown"]) == [.dead, .error, .error])
      }
      #expect(try await under.depth() == 0)
      // Neither the identity nor the fence was taken.
      let id = try await under.phone(host)
      #expect(try await under.send(Event.alert(1, id: "n").with(\.content, "other"), host, [id]) == [.queued])
      #expect(try await under.deliver().count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A repeat is queued again and delivered once`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      let event = Event.alert(1, id: "n")
      for turn in 0..<4 {
        #expect(try await under[turn].admit([event.admission(host, ids)]).results == [[.queued, .queued, .queued]])
      }
      #expect(try await under.depth() == 3)
      #expect(try await under.deliver().map(\.registrationId).sorted() == ids)
      try await under.advance(.minute)
      #expect(try await under.send(event, host, ids) == [.queued, .queued, .queued])
      #expect(try await under.depth() == 0)
      // The payload is gone, and the deadline long past: it is a repeat still.
      try await under.sweep(.payloads)
      try await under.advance(23 * .hour)
      #expect(try await under.send(event, host, ids) == [.queued, .queued, .queued])
      #expect(try await under.depth() == 0)
      #expect(try await under.deliver().isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A repeat answers for each phone as it is now`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      try await under.send(.alert(1), host, ids)
      try await under.deliver()
      try await under.kill(host, ids[1])
      _ = try await under.store.unregister(host, registrationId: ids[2])
      #expect(try await under.send(.alert(1), host, ids + ["unknown"]) == [.queued, .dead, .error, .error])
      #expect(try await under.depth() == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Other content under a known identity is an error for all, and changes nothing`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let dead = try await under.phone(host, "dead")
      try await under.kill(host, dead)
      let ids = [try await under.phone(host, "1"), try await under.phone(host, "2"), dead]
      let first = Event.alert(1)
      #expect(try await under.send(first, host, [ids[0]]) == [.queued])
      for event in [
        first.with(\.content, "x"), first.with(\.expiresAt, under.now + 5), first.with(\.notificationId, "n"),
      ] {
        #expect(try await under.send(event, host, ids + ["unknown"]) == [.error, .error, .error, .error])
        #expect(try await under.second.admit([event.admission(host, ids)]).results == [[.error, .error, .error]])
      }
      // A dismissal of that identity is another event, but a changed one raises no fence.
      let dismissal = Event.dismissal(8, id: "gone")
      #expect(try await under.send(dismissal, host, [ids[0]]) == [.queued])
      #expect(try await under.send(dismissal.with(\.notificationId, "kept"), host, [ids[0]]) == [.error])
      #expect(try await under.send(.alert(2, id: "kept"), host, [ids[0]]) == [.queued])
      #expect(
        try await under.deliver().map(\.text) == [first.payload, dismissal.payload, Event.alert(2, id: "kept").payload])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Phones that are named later get the event, and they alone`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 5)
      let event = Event.alert(1)
      #expect(try await under.send(event, host, [ids[0], ids[1]]) == [.queued, .queued])
      #expect(try await under.send(event, host, [ids[1], ids[2]]) == [.queued, .queued])
      let first = try await under.deliver()
      #expect(first.map(\.registrationId).sorted() == [ids[0], ids[1], ids[2]])
      try await under.sweep(.payloads)
      #expect(try await under.second.admit([event.admission(host, ids)]).results == [ids.map { _ in .queued }])
      let second = try await under.deliver()
      #expect(second.map(\.registrationId).sorted() == [ids[3], ids[4]])
      #expect(Set((first + second).map(\.identity)).count == 5)
      #expect((first + second).allSatisfy { $0.text == event.payload })
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Sound belongs to the delivery and not to the event`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      let event = Event.alert(1)
      #expect(try await under.send(event, host, [ids[0]]) == [.queued])
      #expect(try await under.send(event.with(\.isSilent, true), host, [ids[0], ids[1]]) == [.queued, .queued])
      #expect(try await under.send(event, host, [ids[1], ids[2]]) == [.queued, .queued])
      let isSilent = Dictionary(
        uniqueKeysWithValues: try await under.deliver().map { ($0.registrationId, $0.isSilent) })
      #expect(isSilent == [ids[0]: false, ids[1]: true, ids[2]: false])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Hosts, kinds, epochs and numbers tell events apart`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let id = try await under.phone(host)
      let foreign = try await under.phone(other)
      let events = [
        Event.alert(1, id: "a"), .alert(2, id: "a"), .alert(1, epoch: "next", id: "a"), .dismissal(1, id: "b"),
      ]
      for event in events { #expect(try await under.send(event, host, [id]) == [.queued]) }
      #expect(try await under.send(events[0].with(\.content, "theirs"), other, [foreign]) == [.queued])
      let delivered = try await under.deliver()
      #expect(delivered.filter { $0.registrationId == id }.map(\.text) == events.map(\.payload))
      #expect(delivered.filter { $0.registrationId == foreign }.count == 1)
      #expect(Set(delivered.map(\.identity)).count == 5)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `The same event from many processes at once is stored once`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 10)
      for round in 0..<5 {
        let event = Event.alert(Int64(round))
        let results = try await withThrowingTaskGroup(of: [[SendResult]].self) { group in
          for number in 0..<20 {
            // Each names two phones, and each phone is named four times.
            let named = [ids[number % 10], ids[(number + 1) % 10]]
            group.addTask { try await under[number].admit([event.admission(host, named)]).results }
          }
          return try await group.reduce(into: [SendResult]()) { $0 += $1.joined() }
        }
        #expect(results == Array(repeating: .queued, count: 40))
        #expect(try await under.deliver().map(\.registrationId).sorted() == ids)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Of two contents of one identity at once, one is stored`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      for round in 0..<5 {
        let queued = try await withThrowingTaskGroup(of: (Int, [[SendResult]]).self) { group in
          for number in 0..<10 {
            let event = Event.alert(Int64(round)).with(\.content, "\(number % 2)")
            group.addTask { (number % 2, try await under[number].admit([event.admission(host, [id])]).results) }
          }
          return try await group.reduce(into: [Int]()) { if $1.1 == [[.queued]] { $0.append($1.0) } }
        }
        #expect(queued.count == 5)
        #expect(Set(queued).count == 1)
        #expect(try await under.deliver().count == 1)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `One call takes 64 sends of 20 phones each, of many hosts`(on kind: StoreKind) async throws {
    try await kind.use { under in
      var sends: [Admission] = []
      for number in 0..<4 {
        let host = try await under.host("host \(number)")
        let ids = try await under.phones(host, 20, route: Route.allCases[number % 3])
        sends += (0..<16).map { Event.alert($0, id: "n").admission(host, ids) }
      }
      let mixed = (0..<64).map { sends[$0 % 4 * 16 + $0 / 4] }
      #expect(try await under.store.admit(mixed).results == mixed.map { $0.registrationIds.map { _ in .queued } })
      #expect(try await under.depth() == 1_280)
      let delivered = try await under.deliver()
      #expect(delivered.count == 1_280)
      #expect(Set(delivered.map(\.identity)).count == 1_280)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Sends of one call see one another`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      let event = Event.alert(3, id: "n")
      let results = try await under.store.admit([
        event.admission(host, [ids[0]]), event.admission(host, ids), event.with(\.content, "x").admission(host, ids),
        Event.dismissal(5, id: "n").admission(host, [ids[1]]), Event.alert(4, id: "n").admission(host, ids),
        Event.alert(6, id: "n").admission(host, ids),
      ]).results
      #expect(
        results == [
          [.queued], [.queued, .queued], [.error, .error], [.queued], [.queued, .queued], [.queued, .queued],
        ])
      let delivered = try await under.deliver()
      #expect(delivered.filter { $0.registrationId == ids[0] }.map(\.text) == [Event.alert(6, id: "n").payload])
      #expect(
        delivered.filter { $0.registrationId == ids[1] }.map(\.text)
          == [Event.dismissal(5, id: "n").payload, Event.alert(6, id: "n").payload])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `No sends are no results`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let results = try await under.store.admit([]).results
      #expect(results.isEmpty)
    }
  }
}
