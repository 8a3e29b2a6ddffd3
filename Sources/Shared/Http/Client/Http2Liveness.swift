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
  /// Since when requests have waited without a byte from the peer. Nil while none waits, and once the answer to a PING has
  /// shown those that wait that their peer is merely slow: one PING is enough for them.
  private var unheardSince: Monotonic?

  init(limits: Http2PoolLimits, now: Monotonic) {
    self.limits = limits
    lastReceived = now
    lastAnswer = now
  }

  /// When `check` has something to say at the earliest.
  var nextCheck: Monotonic {
    if let pingSent { return pingSent.advanced(milliseconds: limits.pingTimeout) }
    let idle = lastReceived.advanced(milliseconds: limits.idlePing)
    return unheardSince.map { min(idle, $0.advanced(milliseconds: limits.unheard)) } ?? idle
  }

  /// Bytes came; `waiting` tells whether requests are in flight.
  mutating func received(_ now: Monotonic, waiting: Bool) {
    lastReceived = now
    unheardSince = waiting && pingSent == nil ? now : nil
    pingSent = nil
  }

  /// A request got its answer.
  mutating func answered() {
    lastAnswer = lastReceived
    timeouts = 0
  }

  /// A request goes out; `alone` when no other is in flight.
  mutating func submitting(_ now: Monotonic, alone: Bool) -> Verdict {
    if alone || unheardSince == nil { unheardSince = now }
    return now >= lastReceived.advanced(milliseconds: limits.silence) ? ping(now) : .alive
  }

  /// The deadline of a request passed that was submitted at `submitted`.
  mutating func timedOut(submitted: Monotonic, _ now: Monotonic) -> Verdict {
    // One slow answer among others says nothing about the connection, nor does a request that came late to it.
    guard lastAnswer <= submitted, now >= submitted.advanced(milliseconds: limits.pingTimeout) else { return .alive }
    timeouts += 1
    return timeouts >= limits.timeoutsUntilDead ? .dead : ping(now)
  }

  /// Tells what is due. All bytes that have come by now must have been read.
  mutating func check(_ now: Monotonic, waiting: Bool) -> Verdict {
    if !waiting { unheardSince = nil }
    guard now >= nextCheck else { return .alive }
    return pingSent == nil ? ping(now) : .dead
  }

  private mutating func ping(_ now: Monotonic) -> Verdict {
    guard pingSent == nil else { return .alive }
    pingSent = now
    return .ping
  }
}
