/// What the queue remembers of a delivery's attempts, in one number: how many count, and whether its one chance after a 410
/// about an earlier registration is spent (rulings 6.9).
struct RetryCount {
  private static let spent = 1_000
  private var stored: Int

  init(stored: Int) { self.stored = stored }

  /// Attempts that count.
  var attempts: Int { stored % Self.spent }
  var hasSpentStaleChance: Bool { stored >= Self.spent }

  /// As the queue keeps it.
  var value: Int { stored }

  mutating func countAttempt() { stored += 1 }
  mutating func spendStaleChance() {
    if !hasSpentStaleChance { stored += Self.spent }
  }
}
