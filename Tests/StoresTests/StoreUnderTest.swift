import Contract
import Keys
import Testing

@testable import Stores

/// A store of one test's own, with what the tests do to it over and over.
struct StoreUnderTest: Sendable {
  let store: any Store
  /// The same database as another process would have it.
  let second: any Store
  let clock: HandClock
  /// Opens the database once more.
  let open: @Sendable () async throws -> any Store
  let setClock: @Sendable (Int64) async throws -> Void

  /// Both instances, to be taken in turn.
  subscript(turn: Int) -> any Store { turn.isMultiple(of: 2) ? store : second }

  /// What the store's clock says, Unix ms.
  var now: Int64 { clock.now }

  /// Moves the store's clock.
  func advance(_ milliseconds: Int64) async throws { try await setClock(clock.move(milliseconds)) }
}

extension Int64 {
  static let second: Int64 = 1_000
  static let minute: Int64 = 60_000
  static let hour: Int64 = 3_600_000
}

// MARK: Hosts and phones

extension SessionStore {
  /// What one bearer is.
  func session(_ tokenDigest: [UInt8]) async throws -> SessionStanding {
    try #require(try await sessions(tokenDigests: [tokenDigest]).first)
  }
}

extension StoreUnderTest {
  static func fingerprint(_ name: String) throws -> HostFingerprint {
    try #require(HostFingerprint(String(Base64Url.encode(Sha256.digest(name)).prefix(16))))
  }

  /// A host that proved itself.
  func host(_ name: String = "host") async throws -> Host {
    let challenge = "challenge of \(name)"
    let token = Sha256.digest("token of \(name)")
    try await store.saveChallenge(
      id: challenge, fingerprint: try Self.fingerprint(name), proofDigest: Sha256.digest("proof"))
    _ = try #require(try await store.openSession(challengeId: challenge, tokenDigest: token))
    guard case .active(let host, _) = try await store.session(token) else {
      throw Unexpected("no session for a host that proved itself")
    }
    return host
  }

  /// Registers a phone and returns its registration id, `host.device` the first time.
  @discardableResult
  func phone(
    _ host: Host, _ device: String = "phone", route: Route = .fcm, token: String? = nil
  ) async throws -> String {
    let id = try await store.register(
      host, deviceId: device, route: route, token: token ?? "token of \(host.number).\(device)",
      newId: "\(host.number).\(device)")
    return try #require(id)
  }

  /// Registers phones named 0, 1, … and returns their registration ids.
  func phones(_ host: Host, _ count: Int, route: Route = .fcm) async throws -> [String] {
    var ids: [String] = []
    for number in 0..<count { ids.append(try await phone(host, "\(number)", route: route)) }
    return ids
  }

  /// Has a provider call the phone's token dead. Sends to the phone, and to it alone.
  func kill(_ host: Host, _ registrationId: String, route: Route = .fcm) async throws {
    let results = try await send(.alert(0, epoch: "killing \(registrationId) at \(now)"), host, [registrationId])
    try #require(results == [.queued])
    let claimed = try await claim(route).deliveries
    let delivery = try #require(claimed.first { $0.registrationId == registrationId })
    try await settle(
      [
        Settlement(
          batch: delivery.batch, device: delivery.device, verdict: .ended(.dead, detail: nil),
          kills: (delivery.token, nil))
      ])
    let devices = try await store.devices(of: host)
    try #require(devices.first { $0.registrationId == registrationId }?.isDead == true)
  }
}

// MARK: Sends and deliveries

extension StoreUnderTest {
  @discardableResult
  func send(_ event: Event, _ host: Host, _ ids: [String]) async throws -> [SendResult] {
    let results = try await store.admit([event.admission(host, ids)]).results
    return try #require(results.first)
  }

  /// Sends many events in as few calls as may be; the results of each.
  func send(_ events: [Event], _ host: Host, _ ids: [String]) async throws -> [[SendResult]] {
    var results: [[SendResult]] = []
    for start in stride(from: 0, to: events.count, by: 64) {
      let group = events[start..<min(start + 64, events.count)]
      results += try await store.admit(group.map { $0.admission(host, ids) }).results
    }
    return results
  }

  func claim(
    _ route: Route = .fcm, owner: Int64 = 1, limit: ClaimLimit = ClaimLimit(batches: 100), lease: Int64 = 30_000,
    from marks: LowWater = .bottom
  ) async throws -> Claim {
    try await self[Int(owner) + 1].claim(route, owner: owner, limit: limit, lease: lease, from: marks)
  }

  func claim(
    _ route: Route = .fcm, owner: Int64 = 1, limit: Int, lease: Int64 = 30_000, from marks: LowWater = .bottom
  ) async throws -> Claim {
    try await claim(route, owner: owner, limit: ClaimLimit(batches: limit), lease: lease, from: marks)
  }

  /// What there is to deliver to one phone's route, when it must be exactly one.
  func claimOne(_ route: Route = .fcm, owner: Int64 = 1) async throws -> ClaimedDelivery {
    let deliveries = try await claim(route, owner: owner).deliveries
    try #require(deliveries.count == 1)
    return deliveries[0]
  }

  @discardableResult
  func settle(_ settlements: [Settlement], owner: Int64 = 1) async throws -> [Settled] {
    try await self[Int(owner) + 1].settle(settlements, owner: owner)
  }

  /// Delivers all that is due, batch after batch; what was delivered, in order.
  @discardableResult
  func deliver(owner: Int64 = 1, limit: Int = 100, routes: [Route] = Route.allCases) async throws -> [ClaimedDelivery] {
    var delivered: [ClaimedDelivery] = []
    for route in routes {
      while true {
        let claim = try await claim(route, owner: owner, limit: limit)
        if claim.looked == 0 { break }
        let settled = try await settle(claim.deliveries.map { $0.ends(.sent) }, owner: owner)
        try #require(settled == claim.deliveries.map { _ in .ended })
        delivered += claim.deliveries
      }
    }
    return delivered
  }

  func depth() async throws -> Int64 { try await store.depth().deliveries }

  /// Takes a step until nothing is left of it; the rows by table.
  @discardableResult
  func sweep(_ step: SweepStep, limit: Int = 2_000) async throws -> [String: Int] {
    var rows: [String: Int] = [:]
    while true {
      let swept = try await store.sweep(step, limit: limit)
      rows.merge(swept.rows, uniquingKeysWith: +)
      if !swept.isFull { return rows }
    }
  }
}

extension ClaimedDelivery {
  func ends(_ outcome: Outcome, detail: String? = nil, _ attempt: Settlement.Attempt = .answered) -> Settlement {
    Settlement(batch: batch, device: device, verdict: .ended(outcome, detail: detail), attempt: attempt)
  }

  func again(
    after: Int64, attempts: Int, reason: String? = nil, _ attempt: Settlement.Attempt = .answered
  ) -> Settlement {
    Settlement(
      batch: batch, device: device, verdict: .again(after: after, attempts: attempts, reason: reason), attempt: attempt)
  }

  /// What the test put in the event.
  var text: String { String(decoding: payload, as: UTF8.self) }
}

struct Unexpected: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
