/// What an HTTP/2 connection may do next, by the rules of RFC 9113 and of the providers. Knows no sockets.
struct Http2ConnectionState {
  enum Phase {
    /// The server's SETTINGS have not come.
    case opening
    /// Takes requests.
    case open
    /// Takes none, finishes those it has.
    case draining
    case closed
  }

  /// What the shell must see to after an event.
  enum Step: Equatable {
    case none
    /// The first SETTINGS came: requests may be sent.
    case opened
    /// No more requests; those in flight go on.
    case startedDraining
    /// Nothing is in flight and nothing may follow: close.
    case close
  }

  private(set) var phase = Phase.opening
  /// Streams that were submitted and that HTTP/2 has not closed.
  private(set) var inFlight = 0
  /// What the server allows at the moment; it changes at run time, down to 1 or even 0.
  private(set) var peerLimit = 0
  private let ownLimit: Int
  private let lastStreamId: Int32

  init(limits: Http2PoolLimits) {
    ownLimit = limits.streamsPerConnection
    lastStreamId = limits.lastStreamId
  }

  /// How many requests may be submitted now. Never more than the server allows: nghttp2 would queue the rest without a
  /// word, and their deadlines would run while they wait.
  var free: Int { phase == .open ? max(0, min(peerLimit, ownLimit) - inFlight) : 0 }

  /// SETTINGS came. `limit` is the server's MAX_CONCURRENT_STREAMS, very large where it names none.
  mutating func settings(limit: Int) -> Step {
    peerLimit = limit
    guard phase == .opening else { return .none }
    phase = .open
    return .opened
  }

  /// A request went out on stream `id`.
  mutating func submitted(_ id: Int32) -> Step {
    inFlight += 1
    return id >= lastStreamId ? drain() : .none
  }

  /// HTTP/2 closed a stream, for whatever reason.
  mutating func streamClosed() -> Step {
    inFlight -= 1
    guard phase == .draining, inFlight == 0 else { return .none }
    phase = .closed
    return .close
  }

  /// No more requests: GOAWAY came, the connection is too old, its ids run out, or the owner wants it so.
  mutating func drain() -> Step {
    guard phase == .open || phase == .opening else { return .none }
    phase = inFlight == 0 ? .closed : .draining
    return phase == .closed ? .close : .startedDraining
  }

  mutating func close() { phase = .closed }
}
