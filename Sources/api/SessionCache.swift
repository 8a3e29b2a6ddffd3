internal import Contract
internal import Loop
internal import Stores

/// What bearer tokens turn out to be. Good ones are remembered for a short while, so that a burst of requests asks the
/// database once; a session that was replaced, ended or pruned elsewhere is known as such within 5 s (rulings 2.4).
@LoopActor
final class SessionCache {
  /// How long an answer is believed, in ms.
  static let life = 5_000
  /// An answer that is used within its last part, this long in ms, is asked for anew while it still holds: who sends all the
  /// time never waits for a look-up.
  static let renewal = 2_000
  /// Answers kept; the oldest goes first.
  static let limit = 10_000

  private struct Entry {
    let host: Host
    let until: Monotonic
    /// Its place in `order`.
    let place: Int
  }

  private let lookUps: SessionLookUps
  private let clock: @LoopActor () -> Monotonic
  /// By digest of the token.
  private var entries: [[UInt8]: Entry] = [:]
  /// Digests in the order in which they were put in, from place `first` on; those put in again or gone stand there in vain.
  private var order: [[UInt8]] = []
  private var first = 0
  private var oldest = 0
  /// Look-ups under way, which all who ask for the same token share.
  private var flights: [[UInt8]: Task<Result<SessionStanding, Problem>, Never>] = [:]
  /// How often a session was made here: an answer that was asked for before the last one may be out of date.
  private var mints = 0

  init(clock: @escaping @LoopActor () -> Monotonic = { .now }, _ ask: @escaping SessionLookUps.Ask) {
    self.clock = clock
    lookUps = SessionLookUps(ask)
  }

  /// Answers that are kept.
  var count: Int { entries.count }

  /// Tokens that are being asked about.
  var underWay: Int { flights.count }

  /// What the token is now, or was at most 5 s ago.
  func standing(of token: String) async throws(Problem) -> SessionStanding {
    let digest = SessionToken.digest(token)
    let now = clock()
    if let entry = entries[digest], entry.until > now {
      let left = entry.until.milliseconds(since: now)
      if left <= Self.renewal, flights[digest] == nil, lookUps.hasRoom { lookUpInFlight(digest) }
      return .active(entry.host, remaining: Int64(left))
    }
    return try await (flights[digest] ?? lookUpInFlight(digest)).value.get()
  }

  /// Forgets the host's earlier session: a newer one has been made.
  func forget(_ fingerprint: HostFingerprint) {
    mints += 1
    // Whoever asks from now on must not share an answer from before.
    flights = [:]
    for digest in entries.filter({ $0.value.host.fingerprint == fingerprint }).keys { entries[digest] = nil }
  }

  @discardableResult
  private func lookUpInFlight(_ digest: [UInt8]) -> Task<Result<SessionStanding, Problem>, Never> {
    let flight = Task(executorPreference: EventLoop.shared) { await self.lookUp(digest) }
    flights[digest] = flight
    return flight
  }

  private func lookUp(_ digest: [UInt8]) async -> Result<SessionStanding, Problem> {
    let mintsBefore = mints
    // From when it was asked: the answer may have been long on its way.
    let asked = clock()
    let answer = await lookUps.standing(of: digest)
    // A session was made meanwhile: the answer may be out of date, and the flight under this name another one.
    if mints != mintsBefore { return answer }
    flights[digest] = nil
    guard case .success(let standing) = answer else { return answer }
    // Only good ones: whoever makes tokens up must not fill the memory.
    if case .active(let host, let remaining) = standing {
      remember(digest, host, until: asked.advanced(milliseconds: min(Self.life, Int(clamping: remaining))))
    } else {
      entries[digest] = nil
    }
    return answer
  }

  private func remember(_ digest: [UInt8], _ host: Host, until: Monotonic) {
    entries[digest] = Entry(host: host, until: until, place: first + order.count)
    order.append(digest)
    while entries.count > Self.limit || order.count - oldest > 2 * Self.limit { drop() }
    // What has lapsed goes as new ones come, so that the memory follows the traffic.
    for _ in 0..<2 where oldest < order.count && !isCurrent(oldest) { drop() }
    if oldest > Self.limit {
      order.removeFirst(oldest)
      first += oldest
      oldest = 0
    }
  }

  /// Whether the answer that was put in at this index of `order` is still the token's, and still holds.
  private func isCurrent(_ index: Int) -> Bool {
    guard let entry = entries[order[index]] else { return false }
    return entry.place == first + index && entry.until > clock()
  }

  private func drop() {
    if let entry = entries[order[oldest]], entry.place == first + oldest { entries[order[oldest]] = nil }
    oldest += 1
  }
}
