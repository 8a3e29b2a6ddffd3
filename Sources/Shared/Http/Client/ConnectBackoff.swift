internal import Loop

/// When the next connect may begin. Pauses between failing ones double, with jitter, so that many processes do not return
/// at one instant. Those that succeed have a bound as well: a server that retires each connection after a request must not
/// be connected to as fast as it does.
struct ConnectBackoff {
  private let limits: Http2PoolLimits
  private var failures = 0
  private var pauseEnds = Monotonic(nanoseconds: 0)
  /// When all connects so far would be through, had they come one in each interval.
  private var paceEnds = Monotonic(nanoseconds: 0)

  init(limits: Http2PoolLimits) { self.limits = limits }

  /// The next connect must not start before.
  var notBefore: Monotonic {
    let allowance = UInt64(limits.connectBurst - 1) * UInt64(limits.connectInterval) * 1_000_000
    let paced = paceEnds.nanoseconds > allowance ? paceEnds.nanoseconds - allowance : 0
    return max(pauseEnds, Monotonic(nanoseconds: paced))
  }

  /// A connect begins.
  mutating func began(_ now: Monotonic) {
    paceEnds = max(now, paceEnds).advanced(milliseconds: limits.connectInterval)
  }

  /// - Parameter random: from 0 to 1; the pause is between 75 and 100 % of its full length.
  mutating func failed(_ now: Monotonic, random: Double) {
    let full = min(limits.longestPause, limits.firstPause << min(failures, 16))
    failures += 1
    pauseEnds = now.advanced(milliseconds: full - Int(Double(full) * 0.25 * random))
  }

  mutating func succeeded() {
    failures = 0
    pauseEnds = Monotonic(nanoseconds: 0)
  }
}
