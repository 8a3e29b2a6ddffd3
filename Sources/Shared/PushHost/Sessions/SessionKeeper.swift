/// Decides when a host proves itself: the session that is kept, and the refusals that are remembered. Pure.
struct SessionKeeper {
  /// How long a refused proof is remembered, ms.
  static let refusalMemory: Int64 = 30_000
  /// How long a refusal for too many requests is remembered, ms.
  static let throttleMemory: Int64 = 60_000

  /// What a call does next.
  enum Next: Equatable {
    /// Goes ahead with this session.
    case use(HostSession)
    /// Proves first.
    case prove
    /// Ends so, without asking anyone.
    case refuse(GatewayFault)
  }

  private(set) var session: HostSession?
  private var refusal: (fault: GatewayFault, until: Int64)?

  /// - Parameters:
  ///   - rejected: the token that the gateway has just refused, if any: it is not used again.
  ///   - wall: ms since 1970.
  ///   - uptime: ms of the clock that nobody sets.
  mutating func next(rejected: String?, wall: Int64, uptime: Int64) -> Next {
    if let rejected, session?.token == rejected { session = nil }
    if let session, session.isFresh(at: wall) { return .use(session) }
    if let refusal, uptime < refusal.until {
      guard case .throttled = refusal.fault else { return .refuse(refusal.fault) }
      return .refuse(.throttled(retryAfter: Int((refusal.until - uptime + 999) / 1000)))
    }
    return .prove
  }

  /// A proof gave this session, or another process of this host had one.
  mutating func keep(_ session: HostSession) {
    self.session = session
    refusal = nil
  }

  /// The gateway refused a session that was proved for because it had refused the one before.
  mutating func refused(_ token: String, _ fault: GatewayFault, uptime: Int64) {
    if session?.token == token { session = nil }
    failed(fault, uptime: uptime)
  }

  /// A proof came to this. A failure to reach the gateway is never remembered.
  mutating func failed(_ fault: GatewayFault, uptime: Int64) {
    switch fault {
    case .unreachable: refusal = nil
    case .rejected: refusal = (fault, uptime + Self.refusalMemory)
    case .throttled(let seconds): refusal = (fault, uptime + max(Self.throttleMemory, Int64(seconds) * 1000))
    }
  }
}
