internal import Loop

/// Pauses between failing connects: doubling, with jitter, so that many processes do not return at one instant.
struct ConnectBackoff {
  private let first: Int
  private let longest: Int
  private var failures = 0
  /// The next connect must not start before.
  private(set) var notBefore = Monotonic(nanoseconds: 0)

  init(limits: Http2PoolLimits) {
    first = limits.firstPause
    longest = limits.longestPause
  }

  /// - Parameter random: from 0 to 1; the pause is between 75 and 100 % of its full length.
  mutating func failed(_ now: Monotonic, random: Double) {
    let full = min(longest, first << min(failures, 16))
    failures += 1
    notBefore = now.advanced(milliseconds: full - Int(Double(full) * 0.25 * random))
  }

  mutating func succeeded() {
    failures = 0
    notBefore = Monotonic(nanoseconds: 0)
  }
}
