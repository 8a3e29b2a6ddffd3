package import Contract

/// A delivery that the claimer holds: one event on its way to one registration.
package struct ClaimedDelivery: Sendable {
  /// The batch row that the delivery belongs to, and the fence under which it is held.
  package let batch: BatchKey
  package let host: Host
  /// The store's own short key of the registration.
  package let device: Int64
  package let registrationId: String
  package let route: Route
  package var token: String
  /// When the phone was last registered, Unix ms by the store's clock.
  package var registeredAt: Int64
  /// A provider has accepted this token before.
  package var isProven: Bool
  /// Attempts so far that count (rulings 6.6).
  package let attempts: Int
  package let isSilent: Bool
  /// Unix ms by the store's clock.
  package let admittedAt: Int64
  package let expiresAt: Int64
  /// The store's clock when the claim was made, Unix ms: `expiresAt - claimedAt` is what is left of its life.
  package let claimedAt: Int64
  /// 16 bytes that name the delivery for ever: the same on each attempt.
  package let identity: [UInt8]
  /// `Notification.stored`, shared by the batch's deliveries.
  package let payload: [UInt8]

  package init(
    batch: BatchKey, host: Host, device: Int64, registrationId: String, route: Route, token: String,
    registeredAt: Int64, isProven: Bool, attempts: Int, isSilent: Bool, admittedAt: Int64, expiresAt: Int64,
    claimedAt: Int64, identity: [UInt8], payload: [UInt8]
  ) {
    self.batch = batch
    self.host = host
    self.device = device
    self.registrationId = registrationId
    self.route = route
    self.token = token
    self.registeredAt = registeredAt
    self.isProven = isProven
    self.attempts = attempts
    self.isSilent = isSilent
    self.admittedAt = admittedAt
    self.expiresAt = expiresAt
    self.claimedAt = claimedAt
    self.identity = identity
    self.payload = payload
  }
}

/// A batch row and the lease on it: a settle or renewal counts only while the fence is still this one.
package struct BatchKey: Hashable, Sendable {
  package let route: Route
  package let turn: Int64
  package let fence: Int32

  package init(route: Route, turn: Int64, fence: Int32) {
    self.route = route
    self.turn = turn
    self.fence = fence
  }
}

/// How a delivery ended, as stored for 24 hours. Raw values are stored.
package enum Outcome: Int16, Sendable, CaseIterable {
  case sent = 1
  case dead = 2
  case failed = 3
  case expired = 4
  case cancelled = 5

  /// As metrics call it.
  package var name: String {
    switch self {
    case .sent: "sent"
    case .dead: "dead"
    case .failed: "failed"
    case .expired: "expired"
    case .cancelled: "cancelled"
    }
  }
}

/// What a claim brought.
package struct Claim: Sendable {
  /// In order of admission within each host.
  package var deliveries: [ClaimedDelivery]
  /// Deliveries that the claim itself ended: expired, fenced by a dismissal, or without a living registration.
  package var ended: [Outcome: Int]
  /// Batch rows that were looked at; equal to the limit's when there may be more.
  package var looked: Int
  /// Where the next claim begins.
  package var lowWater: LowWater
  /// Something that is due was seen below where the claim began to look; the next one begins below it.
  package var hasOlder = false
}

/// How much a claim takes.
package struct ClaimLimit: Sendable {
  /// Batch rows that are looked at.
  package var batches: Int
  /// Deliveries after which it takes no further batch.
  package var deliveries = Int.max
  /// The same for the deliveries of one host.
  package var ofHost = Int.max
  /// Hosts that are passed over, by the store's own short key.
  package var without: [Int64] = []

  package init(batches: Int, deliveries: Int = .max, ofHost: Int = .max, without: [Int64] = []) {
    self.batches = batches
    self.deliveries = deliveries
    self.ofHost = ofHost
    self.without = without
  }
}

/// Where a claim of a route begins, in places of the fair order: not at the start of the queue, where the dead entries of
/// what was delivered lie.
package struct LowWater: Sendable, Equatable {
  /// Nothing lives below it, but for what took longer than ten seconds to be committed. 0 knows nothing of the queue.
  package var floor: Int64
  /// Where the look for what is due begins; not below `floor`. Due retries and lapsed leases may lie between the two.
  package var next: Int64

  package init(floor: Int64, next: Int64) {
    self.floor = floor
    self.next = next
  }

  /// The start of the queue.
  package static let bottom = LowWater(floor: 0, next: 0)

  /// For a look at everything that lives.
  package var atFloor: LowWater { LowWater(floor: floor, next: floor) }
}

/// What became of one claimed delivery.
package struct Settlement: Sendable {
  package enum Verdict: Sendable {
    /// Ended. `detail` is the provider's id or reason, at most 200 characters of printable ASCII. Why a delivery is
    /// cancelled, the store finds out by itself.
    case ended(Outcome, detail: String?)
    /// Due again `after` ms from now with `attempts` behind it; expires instead when its deadline comes first. `reason`
    /// is why, at most 200 characters of printable ASCII.
    case again(after: Int64, attempts: Int, reason: String?)
  }
  package let batch: BatchKey
  package let device: Int64
  package let verdict: Verdict
  /// The token works: from now on it counts as proven. Given when it was accepted and not yet proven.
  package var proves: String?
  /// Mark the registration dead if it still has exactly this token and route (and, where given, was last registered
  /// before `registeredBefore`, Unix ms).
  package var kills: (token: String, registeredBefore: Int64?)?
  /// What the provider was asked, for the delivery's record.
  package var attempt: Attempt

  /// What lies behind a settlement. Raw values are what `push_settle_v2` takes.
  package enum Attempt: Int16, Sendable {
    /// The provider was not asked, or did not look.
    case none = 0
    /// It answered.
    case answered = 1
    /// It may have taken the push: nobody knows (rulings 6.11).
    case unknown = 2
  }

  package init(
    batch: BatchKey, device: Int64, verdict: Verdict, attempt: Attempt = .none, proves: String? = nil,
    kills: (token: String, registeredBefore: Int64?)? = nil
  ) {
    self.batch = batch
    self.device = device
    self.verdict = verdict
    self.attempt = attempt
    self.proves = proves
    self.kills = kills
  }
}

/// What the store made of one settlement.
package enum Settled: Int16, Sendable {
  /// The lease was lost: nothing changed.
  case lost = 0
  case ended = 1
  case again = 2
  /// Asked for again, but its deadline comes first.
  case expired = 3
}

/// The queue as the worker sees it. Leases are fenced: whoever lost one changes nothing (rulings 6.2).
package protocol DeliveryStore: Sendable {
  /// Takes due batches of a route up to `limit`, in their fair order, for `lease` ms.
  ///
  /// A host whose batch another owner holds on this route is left out, so that each registration has one delivery in flight
  /// across all workers (rulings 6.1). `marks` are those of the last claim. About once a second each worker looks from the
  /// floor on, and now and then from the bottom, whatever took so long to be committed that it lies below.
  func claim(
    _ route: Route, owner: Int64, limit: ClaimLimit, lease: Int64, from marks: LowWater
  ) async throws(StoreFailure) -> Claim

  /// Reads again what may have changed since the claim: the keys of deliveries that must not be sent any more (dismissed,
  /// deleted, dead), and the present token and registration time of the others. Leases are not touched.
  func recheck(_ deliveries: [ClaimedDelivery]) async throws(StoreFailure) -> [Recheck]

  /// Prolongs leases to `lease` ms from now; returns those still held.
  func renew(_ batches: [BatchKey], owner: Int64, lease: Int64) async throws(StoreFailure) -> Set<BatchKey>

  /// Records outcomes and retries, all in one transaction; the answer at `i` is for `settlements[i]`.
  func settle(_ settlements: [Settlement], owner: Int64) async throws(StoreFailure) -> [Settled]

  /// Gives batches back at once, in their places: for drain and parking. A reason, at most 200 characters of printable
  /// ASCII, is kept for the record.
  func release(_ batches: [(key: BatchKey, reason: String?)], owner: Int64) async throws(StoreFailure)

  /// Gives back what claims of these owners took on the route and nobody heard of, since the answer was lost: all that they
  /// hold but `known`, each row to its place in the order.
  /// - Returns: how many rows.
  func disown(
    _ route: Route, owners: [Int64], known: [BatchKey]
  ) async throws(StoreFailure) -> Int

  /// Ends deliveries whose deadline has passed and that nobody holds, whatever their route; at most `limit` batches.
  /// - Returns: how many deliveries expired.
  func expire(limit: Int) async throws(StoreFailure) -> Int

  /// Writes to the record of what has been due on these routes for `overdue` ms, and was never taken, why it waits; how
  /// many rows, at most `limit`.
  func explain(
    _ routes: [Route], _ reason: String, overdue: Int64, limit: Int
  ) async throws(StoreFailure) -> Int

  /// Deliveries waiting or under way, and for how long the oldest due one has waited, in ms.
  func depth() async throws(StoreFailure) -> QueueDepth
}

extension DeliveryStore {
  /// Gives batches back at once, with nothing to say about them.
  package func release(_ batches: [BatchKey], owner: Int64) async throws(StoreFailure) {
    try await release(batches.map { ($0, nil) }, owner: owner)
  }
}

/// The state of one delivery just before it is sent.
package enum Recheck: Sendable, Equatable {
  case send(token: String, registeredAt: Int64, isProven: Bool)
  case cancelled
}

package struct QueueDepth: Sendable, Equatable {
  /// Deliveries not yet ended.
  package var deliveries: Int64
  /// ms; 0 when nothing is due.
  package var oldestDue: Int64
}
