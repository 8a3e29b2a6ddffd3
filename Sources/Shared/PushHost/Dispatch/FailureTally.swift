/// What went wrong, by kind, told at most once a minute. It holds no value of any event. Pure.
struct FailureTally {
  static let pause: Int64 = 60_000

  private var counts: [String: Int] = [:]
  private var toldAt: Int64?

  /// Counts one. How long until it may be told, in ms: 0 for now.
  mutating func count(_ kind: String, uptime: Int64) -> Int64 {
    counts[kind, default: 0] += 1
    guard let toldAt else { return 0 }
    return max(0, toldAt + Self.pause - uptime)
  }

  /// The line that tells all that was counted since the last; nil for nothing.
  mutating func line(uptime: Int64) -> String? {
    guard !counts.isEmpty else { return nil }
    defer {
      counts = [:]
      toldAt = uptime
    }
    return "pushes that did not go out: "
      + counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }
}
