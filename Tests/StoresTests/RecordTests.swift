import Contract
import Testing

@testable import Stores

/// Rulings 6.11: what can be asked about a delivery for 24 hours.
@Suite struct RecordTests {
  @Test(arguments: StoreKind.allCases)
  func `A delivery is pending, then a worker has it, then it was sent`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host, route: .apnsSandbox)
      let queued = under.now
      try await under.send(.alert(1), host, [id])
      var expected = DeliveryRecord(
        kind: .alert, registrationId: id, route: .apnsSandbox, state: .pending, waitsFor: .worker, queuedAt: queued,
        deadline: queued + 300_000)
      #expect(try await under.records(.alert(1), host) == [expected])

      try await under.advance(50)
      let delivery = try await under.claimOne(.apnsSandbox)
      expected.state = .sending
      expected.waitsFor = nil
      #expect(try await under.records(.alert(1), host) == [expected])

      try await under.advance(70)
      try await under.settle([delivery.ends(.sent, detail: "the provider's id")])
      expected.state = .sent
      expected.providerId = "the provider's id"
      expected.attempts = 1
      expected.lastAttemptAt = queued + 120
      expected.finishedAt = queued + 120
      #expect(try await under.records(.alert(1), host) == [expected])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A retry shows why and until when it waits, and what was unknown, to the end`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      let queued = under.now
      try await under.send(.alert(1), host, [id])
      var delivery = try await under.claimOne()
      try await under.settle([delivery.again(after: 2_000, attempts: 1, reason: "timeout", .unknown)])
      var expected = DeliveryRecord(
        kind: .alert, registrationId: id, route: .fcm, state: .waiting, waitsFor: .retry, reason: "timeout",
        attempts: 1, unknownOutcomes: 1, queuedAt: queued, lastAttemptAt: queued, nextAttemptAt: queued + 2_000,
        deadline: queued + 300_000)
      #expect(try await under.records(.alert(1), host) == [expected])

      try await under.advance(2_000)
      expected.state = .pending
      expected.waitsFor = .worker
      expected.nextAttemptAt = nil
      #expect(try await under.records(.alert(1), host) == [expected])

      // What never reached the provider is no attempt, but it says why it waits.
      delivery = try await under.claimOne()
      try await under.settle([delivery.again(after: 500, attempts: 1, reason: "dns: no such name", .none)])
      expected.state = .waiting
      expected.waitsFor = .retry
      expected.reason = "dns: no such name"
      expected.nextAttemptAt = queued + 2_500
      #expect(try await under.records(.alert(1), host) == [expected])

      try await under.advance(500)
      delivery = try await under.claimOne()
      // The chance after a 410 about an earlier registration is counted in the same number.
      try await under.settle([delivery.again(after: 1_000, attempts: 1_002, reason: "Unregistered")])
      try await under.advance(1_000)
      delivery = try await under.claimOne()
      try await under.settle([delivery.ends(.sent, detail: "id")])
      #expect(
        try await under.records(.alert(1), host) == [
          DeliveryRecord(
            kind: .alert, registrationId: id, route: .fcm, state: .sent, retryReason: "Unregistered", attempts: 3,
            unknownOutcomes: 1, providerId: "id", queuedAt: queued, lastAttemptAt: queued + 3_500,
            finishedAt: queued + 3_500, deadline: queued + 300_000)
        ])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Refusals and dead tokens keep the provider's word`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2, route: .apnsProduction)
      try await under.send(.alert(1), host, ids)
      let held = try await under.claim(.apnsProduction).deliveries
      try await under.settle([
        Settlement(
          batch: held[0].batch, device: held[0].device, verdict: .ended(.dead, detail: "BadDeviceToken"),
          attempt: .answered, kills: (held[0].token, nil)), held[1].ends(.failed, detail: "PayloadTooLarge"),
      ])
      let records = try await under.records(.alert(1), host)
      #expect(records.compactMap(\.registrationId) == ids)
      #expect(records.map(\.state) == [.dead, .failed])
      #expect(records.map(\.reason) == ["BadDeviceToken", "PayloadTooLarge"])
      #expect(records.map(\.apnsEnvironment) == [.production, .production])
      #expect(records.map(\.attempts) == [1, 1])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What expires says how far it had come`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3)
      let queued = under.now
      try await under.send(.alert(1), host, ids)
      let held = try await under.claim().deliveries
      // One whose next attempt would come too late, one that waits for one, one that nobody gets to.
      try await under.settle([
        held[0].again(after: 400_000, attempts: 1, reason: "QUOTA_EXCEEDED"),
        held[1].again(after: 60_000, attempts: 1, reason: "connection_lost", .unknown),
      ])
      try await under.store.release([held[2].batch], owner: 1)
      let late = try await under.records(.alert(1), host)[0]
      #expect(late.state == .expired)
      #expect(late.reason == "deadline")
      #expect(late.retryReason == "QUOTA_EXCEEDED")
      #expect(late.attempts == 1)
      #expect(late.finishedAt == queued)

      try await under.advance(300_000)
      let passed = try await under.records(.alert(1), host)
      #expect(passed.map(\.state) == [.expired, .expired, .expired])
      #expect(passed.map(\.finishedAt) == [queued, nil, nil], "not written down yet")
      try await under.sweep(.deliveries)
      let swept = try await under.records(.alert(1), host)
      #expect(swept[1...].map(\.finishedAt) == [queued + 300_000, queued + 300_000])
      #expect(swept.map(\.retryReason) == ["QUOTA_EXCEEDED", "connection_lost", nil])
      #expect(swept.map(\.attempts) == [1, 1, 0])
      #expect(swept.map(\.unknownOutcomes) == [0, 1, 0])
      #expect(swept.map(\.lastAttemptAt) == [queued, queued, nil])
      #expect(swept.map(\.queuedAt) == [queued, queued, queued])
      #expect(swept.map(\.route) == [.fcm, .fcm, .fcm])
    }
  }

  enum Cause: CaseIterable { case dismissed, fenced, deleted, dead, moved }

  @Test(arguments: StoreKind.allCases, Cause.allCases)
  func `A cancelled delivery says what cancelled it`(on kind: StoreKind, cause: Cause) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host, "a")
      let other = try await under.phone(host, "b")
      let reason: DeliveryReason
      switch cause {
      case .dismissed:
        try await under.send(.alert(1, id: "n"), host, [id])
        try await under.send(.dismissal(1, id: "n"), host, [other])
        reason = .dismissed
      case .fenced:
        try await under.send(.dismissal(1, id: "n"), host, [other])
        try await under.send(.alert(1, id: "n"), host, [id])
        reason = .dismissed
      case .deleted:
        try await under.send(.alert(1), host, [id])
        #expect(try await under.store.unregister(host, registrationId: id))
        reason = .deleted
      case .dead:
        try await under.send(.alert(1), host, [id])
        let delivery = try await under.claimOne()
        try await under.send(.alert(2), host, [id])
        let second = try await under.claimOne()
        try await under.settle([
          Settlement(
            batch: second.batch, device: second.device, verdict: .ended(.dead, detail: "UNREGISTERED"),
            attempt: .answered, kills: (second.token, nil))
        ])
        try await under.store.release([delivery.batch], owner: 1)
        reason = .tokenDead
      case .moved:
        try await under.send(.alert(1), host, [id])
        _ = try await under.store.register(host, deviceId: "a", route: .apnsSandbox, token: "aa", newId: "unused")
        reason = .moved
      }
      try await under.deliver()
      let records = try await under.records(.alert(1, id: cause == .fenced || cause == .dismissed ? "n" : nil), host)
      let record = try #require(records.first { $0.kind == .alert })
      #expect(record.state == .cancelled)
      #expect(record.reason == reason.rawValue)
      #expect(record.registrationId == id)
      #expect(record.attempts == 0)
      #expect(record.finishedAt == under.now)
      #expect(record.detail != nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What waits for a deleted registration is cancelled, whether a worker ever comes by or not`(on kind: StoreKind)
    async throws
  {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      try await under.send(.alert(1), host, ids)
      #expect(try await under.store.unregister(host, registrationId: ids[0]))
      for isLate in [false, true] {
        if isLate {
          try await under.advance(300_000)
          try await under.sweep(.deliveries)
        }
        let records = try await under.records(.alert(1), host)
        #expect(records.map(\.state) == [.cancelled, isLate ? .expired : .pending])
        #expect(records.map(\.reason) == ["deleted", isLate ? "deadline" : nil])
        #expect(records.map(\.waitsFor) == [nil, isLate ? nil : .worker])
        #expect(records.compactMap(\.registrationId) == ids)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What expired before its registration was deleted stays expired, and what a worker has is on its way`(
    on kind: StoreKind
  ) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.alert(1), host, [id])
      try await under.advance(300_000)
      try await under.sweep(.deliveries)
      try await under.advance(1)
      try await under.send(.alert(2), host, [id])
      _ = try await under.claimOne()
      #expect(try await under.store.unregister(host, registrationId: id))
      #expect(try await under.records(.alert(1), host).map(\.state) == [.expired])
      #expect(try await under.records(.alert(2), host).map(\.state) == [.sending])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What was cancelled after the worker's second look says why, too`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.alert(1, id: "n"), host, [id])
      let delivery = try await under.claimOne()
      try await under.send(.dismissal(2, id: "n"), host, [id])
      #expect(try await under.store.recheck([delivery]) == [.cancelled])
      try await under.settle([delivery.ends(.cancelled, .none)])
      #expect(try await under.records(.alert(1), host).map(\.reason) == ["dismissed"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What nobody has taken on a route without a credential says what it waits for`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 3, route: .apnsProduction)
      let android = try await under.phone(host, "android")
      let reason = DeliveryReason.lacksCredential
      func told(limit: Int = 100) async throws -> Int {
        try await under.second.explain([.apnsProduction, .apnsSandbox], reason, overdue: 5_000, limit: limit)
      }
      for (seq, id) in ids.enumerated() { try await under.send(.alert(Int64(seq)), host, [id]) }
      try await under.send(.alert(8), host, [android])
      // One was tried by a worker that has a credential; one such takes what is young before long.
      let tried = try await under.claim(.apnsProduction, limit: 1).deliveries
      try await under.store.release(tried.map(\.batch), owner: 1)
      try await under.advance(4_999)
      #expect(try await told() == 0)
      try await under.advance(1)
      #expect(try await told(limit: 1) == 1)
      #expect(try await told(limit: 1) == 1)
      #expect(try await told(limit: 1) == 0)
      var waits: [DeliveryRecord.Wait?] = []
      for seq in [0, 1, 2, 8] as [Int64] { waits.append(try await under.records(.alert(seq), host).first?.waitsFor) }
      #expect(waits == [.worker, .credential, .credential, .worker])

      try await under.deliver(routes: [.apnsProduction])
      let sent = try await under.records(.alert(1), host)
      #expect(sent.map(\.state) == [.sent] && sent.map(\.retryReason) == [reason])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A parked lane's deliveries wait for the credential`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      try await under.send(.alert(1), host, [try await under.phone(host)])
      let delivery = try await under.claimOne()
      try await under.store.release([(delivery.batch, "parked: InvalidProviderToken")], owner: 1)
      let parked = try #require(try await under.records(.alert(1), host).first)
      #expect(parked.state == .pending)
      #expect(parked.waitsFor == .credential)
      #expect(parked.reason == "parked: InvalidProviderToken")
      // Given back by a drain, the reason stays; once it is sent, it is what it was tried again after.
      let again = try await under.claimOne()
      try await under.store.release([again.batch], owner: 1)
      try await under.deliver()
      let sent = try #require(try await under.records(.alert(1), host).first)
      #expect(sent.state == .sent)
      #expect(sent.reason == nil)
      #expect(sent.retryReason == "parked: InvalidProviderToken")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `What waits behind a worker's deliveries of its host says so`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.alert(1), host, [id])
      let first = try await under.claimOne()
      try await under.send(.alert(2), host, [id])
      #expect(try await under.records(.alert(2), host).map(\.waitsFor) == [.turn])
      try await under.settle([first.ends(.sent)])
      #expect(try await under.records(.alert(2), host).map(\.waitsFor) == [.worker])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `An alert and a dismissal of one epoch and seq are two`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.alert(1, id: "n"), host, [id])
      try await under.deliver()
      try await under.send(.dismissal(1, id: "n"), host, [id])
      let both = try await under.records(.alert(1), host)
      #expect(both.map(\.kind) == [.alert, .dismiss])
      #expect(both.map(\.state) == [.sent, .pending])
      let alert = Event.alert(1).admission(host, []).eventKey
      #expect(try await under.store.records(of: host, events: [alert]).map(\.kind) == [.alert])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `No other host and no other event is told of, and nothing after 24 hours`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host("a")
      let other = try await under.host("b")
      let id = try await under.phone(host)
      try await under.send(.alert(1), host, [id])
      try await under.deliver()
      #expect(try await under.store.unregister(host, registrationId: id))
      #expect(try await under.records(.alert(1), other).isEmpty)
      #expect(try await under.records(.alert(2), host).isEmpty)
      #expect(try await under.records(.alert(1, epoch: "other"), host).isEmpty)
      try await under.advance(24 * .hour)
      for step in SweepStep.allCases { try await under.sweep(step) }
      let kept = try await under.records(.alert(1), host)
      #expect(kept.map(\.registrationId) == [id])
      #expect(kept.map(\.state) == [.sent])
      try await under.advance(1)
      #expect(try await under.sweep(.forgotten) == ["push_forgotten_devices": 1])
      try await under.sweep(.events)
      #expect(try await under.records(.alert(1), host).isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A phone that a repeat adds was queued when it was added`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 2)
      let queued = under.now
      try await under.send(.alert(1), host, [ids[0]])
      try await under.advance(1_000)
      try await under.send(.alert(1), host, ids)
      #expect(try await under.records(.alert(1), host).map(\.queuedAt) == [queued, queued + 1_000])
      try await under.deliver()
      #expect(try await under.records(.alert(1), host).map(\.queuedAt) == [queued, queued + 1_000])
      #expect(try await under.records(.alert(1), host).map(\.deadline) == [queued + 300_000, queued + 300_000])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Hosts are found by how their fingerprints begin`(on kind: StoreKind) async throws {
    try await kind.use { under in
      var hosts: [Host] = []
      for number in 0..<40 { hosts.append(try await under.host("host \(number)")) }
      for host in hosts {
        let text = host.fingerprint.text
        #expect(try await under.store.hosts(prefix: text, limit: 2) == [host])
        let alike = hosts.filter { $0.fingerprint.text.utf8.starts(with: text.prefix(1).utf8) }
        #expect(Set(try await under.store.hosts(prefix: String(text.prefix(1)), limit: 100)) == Set(alike))
        #expect(try await under.store.hosts(prefix: String(text.prefix(1)), limit: 1).count == 1)
      }
      let letters = Set(hosts.map { $0.fingerprint.text.prefix(1) })
      let absent = try #require(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".first {
          !letters.contains(Substring(String($0)))
        })
      #expect(try await under.store.hosts(prefix: String(absent), limit: 2).isEmpty)
    }
  }
}

extension StoreUnderTest {
  /// What is known of the events with this one's epoch and seq, by either kind.
  func records(_ event: Event, _ host: Host) async throws -> [DeliveryRecord] {
    let keys = [Notification.Kind.alert, .dismiss].map { event.with(\.kind, $0).admission(host, []).eventKey }
    return try await second.records(of: host, events: keys)
  }
}
