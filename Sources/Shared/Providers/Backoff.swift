/// How long a delivery waits before it is tried again (rulings 6.6).
package enum Backoff {
  /// The longest wait that doubling alone leads to, in ms.
  package static let ceiling: Int64 = 30_000
  /// The largest part of the wait that jitter adds.
  package static let jitter = 0.25

  /// The wait of attempt `n` in ms: the larger of `minimum` and 1 s doubled `n` times (30 s at most), and up to 25 % more.
  ///
  /// - Parameters:
  ///   - n: attempts behind the delivery that count, the one that just failed included.
  ///   - minimum: what the provider asks for, in ms. Never shortened.
  ///   - random: 0 to 1, drawn evenly.
  package static func wait(attempt n: Int, minimum: Int64, random: Double) -> Int64 {
    // 2^5 s is past the ceiling, and the bound keeps the shift defined.
    let doubled = min(ceiling, 1_000 << Int64(min(max(0, n), 5)))
    let wait = max(minimum, doubled)
    return wait + Int64(Double(wait) * jitter * min(1, max(0, random)))
  }
}
