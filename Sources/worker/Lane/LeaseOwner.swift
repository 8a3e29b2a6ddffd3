internal import Loop

/// Under which name a lane claims, and which names may hold what it never heard of. Pure.
///
/// A claim whose answer was lost may have taken rows, or take them yet. Whatever is claimed after it goes under another name:
/// the store leaves out hosts that another owner holds, so nothing younger of theirs overtakes what the lost claim took,
/// even if that claim is carried out late. What it took is given back before the next claim, and looked for again until
/// its leases have lapsed by themselves.
struct LeaseOwner {
  /// For how long after its end a lost claim may still hold something, in ms: its own time and a lease.
  static let memory = 40_000

  /// Of the next claim. Random, so that no two processes' are alike.
  private(set) var current: Int64
  private var lost: [(owner: Int64, until: Monotonic)] = []
  private let random: @Sendable () -> Int64

  init(_ random: @escaping @Sendable () -> Int64 = { Int64.random(in: 1...Int64.max) }) {
    self.random = random
    current = random()
  }

  /// Owners of lost claims.
  func suspects(_ now: Monotonic) -> [Int64] { lost.filter { $0.until > now }.map(\.owner) }

  /// The claim that was under way had no answer.
  mutating func loseClaim(_ now: Monotonic) {
    lost.removeAll { $0.until <= now }
    lost.append((current, now.advanced(milliseconds: Self.memory)))
    current = random()
  }
}
