/// How long to let a server rest after a failed attempt: 100 ms, doubling to 1 s, each shortened by up to a quarter so
/// that the processes of one fleet do not knock together.
struct Backoff {
  private(set) var failures = 0

  /// Counts a failure; gives the pause before the next attempt, in ms. `random` is from 0 to 1.
  mutating func failed(random: Double) -> Int {
    let pause = min(1_000, 100 << min(failures, 4))
    failures += 1
    return pause - Int(Double(pause) / 4 * min(max(random, 0), 1))
  }

  mutating func succeeded() { failures = 0 }
}
