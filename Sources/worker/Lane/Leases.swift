internal import Loop
internal import Stores

/// The leases that a lane holds: which batches, how many of their deliveries are still to be settled or given back, and
/// until when sending under them is safe. Pure.
struct Leases {
  /// ms (rulings 6.2).
  static let length: Int64 = 30_000
  /// Renewed this often, in ms.
  static let renewal = 10_000
  /// A request is not begun unless the lease outlasts its deadline of 10 s by 2 s, in ms.
  static let margin = 12_000

  private struct Lease {
    let owner: Int64
    var open = 0
    var givenBack = 0
    var until: Monotonic
  }
  private var leases: [BatchKey: Lease] = [:]

  var batches: [BatchKey] { Array(leases.keys) }

  /// The same by the names that they were claimed under; nearly always one.
  var byOwner: [Int64: [BatchKey]] {
    leases.reduce(into: [:]) { $0[$1.value.owner, default: []].append($1.key) }
  }

  /// One more delivery of `batch`, whose claim was sent at `now`.
  mutating func add(_ batch: BatchKey, _ owner: Int64, _ now: Monotonic) {
    leases[batch, default: Lease(owner: owner, until: now.advanced(milliseconds: Int(Self.length)))].open += 1
  }

  /// One delivery of `batch` is settled. True when the rest of the batch was given back, so that it is to be released now.
  mutating func settled(_ batch: BatchKey) -> Bool { close(batch, givesBack: false) }

  /// One delivery of `batch` stays in it for whoever claims it next. True when the batch is to be released now.
  mutating func givenBack(_ batch: BatchKey) -> Bool { close(batch, givesBack: true) }

  private mutating func close(_ batch: BatchKey, givesBack: Bool) -> Bool {
    guard var lease = leases[batch] else { return false }
    lease.open -= 1
    if givesBack { lease.givenBack += 1 }
    leases[batch] = lease.open > 0 ? lease : nil
    return lease.open == 0 && lease.givenBack > 0
  }

  /// The batch is not ours any more.
  mutating func lose(_ batch: BatchKey) { leases[batch] = nil }

  /// Whether the batch is ours, as far as is known.
  func holds(_ batch: BatchKey) -> Bool { leases[batch] != nil }

  /// Whether a request begun at `now` ends while the batch is still ours.
  func isSafe(_ batch: BatchKey, _ now: Monotonic) -> Bool {
    guard let lease = leases[batch] else { return false }
    return lease.until > now.advanced(milliseconds: Self.margin)
  }

  /// A renewal that was sent at `now` came back: those kept last longer.
  /// - Returns: those asked for that are lost.
  mutating func renewed(_ asked: [BatchKey], _ kept: Set<BatchKey>, _ now: Monotonic) -> Set<BatchKey> {
    for batch in kept { leases[batch]?.until = now.advanced(milliseconds: Int(Self.length)) }
    let lost = Set(asked.filter { !kept.contains($0) && leases[$0] != nil })
    for batch in lost { leases[batch] = nil }
    return lost
  }
}
