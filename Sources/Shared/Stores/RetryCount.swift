/// What the queue remembers of a delivery's attempts, in one number: how many count, and whether its one chance after a 410
/// about an earlier registration is spent (rulings 6.9).
package struct RetryCount: Sendable {
  private static let spent = 1_000
  private var stored: Int

  package init(stored: Int) { self.stored = stored }

  /// Attempts that count.
  package var attempts: Int { stored % Self.spent }
  package var hasSpentStaleChance: Bool { stored >= Self.spent }

  /// As the queue keeps it.
  package var value: Int { stored }

  package mutating func countAttempt() { stored += 1 }
  package mutating func spendStaleChance() {
    if !hasSpentStaleChance { stored += Self.spent }
  }
}
