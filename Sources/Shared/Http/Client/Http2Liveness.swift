internal import Loop

/// Whether an HTTP/2 connection still has another end. Middleboxes drop idle flows without a word, and TCP takes a
/// quarter of an hour to notice. Knows no sockets and no timers: it is told the time.
struct Http2Liveness {
  enum Verdict: Equatable {
    case alive
    /// Send a PING; anything that comes back counts as its answer.
    case ping
    case dead
  }

  private let limits: Http2PoolLimits
  private(set) var lastReceived: Monotonic
  private var lastAnswer: Monotonic
  private var pingSent: Monotonic?
  private var timeouts = 0

  init(limits: Http2PoolLimits, now: Monotonic) {
    self.limits = limits
    lastReceived = now
    lastAnswer = now
  }

  /// When `check` has something to say at the earliest.
  var nextCheck: Monotonic {
    if let pingSent { return pingSent.advanced(milliseconds: limits.pingTimeout) }
    return lastReceived.advanced(milliseconds: limits.idlePing)
  }

  /// Bytes came.
  mutating func received(_ now: Monotonic) {
    lastReceived = now
    pingSent = nil
  }

  /// A request got its answer.
  mutating func answered() {
    lastAnswer = lastReceived
    timeouts = 0
  }

  /// A request goes out.
  mutating func submitting(_ now: Monotonic) -> Verdict {
    now >= lastReceived.advanced(milliseconds: limits.silence) ? ping(now) : .alive
  }

  /// The deadline of a request passed that was submitted at `submitted`.
  mutating func timedOut(submitted: Monotonic, _ now: Monotonic) -> Verdict {
    // One slow answer among others says nothing about the connection, nor does a request that came late to it.
    guard lastAnswer <= submitted, now >= submitted.advanced(milliseconds: limits.pingTimeout) else { return .alive }
    timeouts += 1
    return timeouts >= limits.timeoutsUntilDead ? .dead : ping(now)
  }

  mutating func check(_ now: Monotonic) -> Verdict {
    guard now >= nextCheck else { return .alive }
    return pingSent == nil ? ping(now) : .dead
  }

  private mutating func ping(_ now: Monotonic) -> Verdict {
    guard pingSent == nil else { return .alive }
    pingSent = now
    return .ping
  }
}
