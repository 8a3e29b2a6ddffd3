internal import Contract
internal import Loop
internal import Stores

/// What bearer tokens turn out to be. Good ones are remembered for a short while, so that a burst of requests asks the
/// database once; a session that was replaced, ended or pruned elsewhere is known as such within 5 s (rulings 2.4).
@LoopActor
final class SessionCache {
  /// How long an answer is believed, in ms.
  static let life = 5_000
  /// Answers kept; the oldest goes first.
  static let limit = 10_000

  private struct Entry {
    let host: Host
    let until: Monotonic
  }

  /// Asks the database, by the token's digest.
  typealias LookUp = @LoopActor ([UInt8]) async throws(Problem) -> SessionStanding

  private let ask: LookUp
  private let clock: @LoopActor () -> Monotonic
  private let gate = Gate(running: 4, waiting: 32)
  /// By digest of the token.
  private var entries: [[UInt8]: Entry] = [:]
  /// Digests in the order they were put in, some of which may be gone.
  private var order: [[UInt8]] = []
  private var oldest = 0
  /// Look-ups under way, which all who ask for the same token share.
  private var flights: [[UInt8]: Task<Result<SessionStanding, Problem>, Never>] = [:]
  /// How often a session was made here: an answer that was asked for before the last one may be out of date.
  private var mints = 0

  init(clock: @escaping @LoopActor () -> Monotonic = { .now }, _ ask: @escaping LookUp) {
    self.clock = clock
    self.ask = ask
  }

  /// Answers that are kept.
  var count: Int { entries.count }

  /// What the token is now, or was at most 5 s ago.
  func standing(of token: String) async throws(Problem) -> SessionStanding {
    let digest = SessionToken.digest(token)
    let now = clock()
    if let entry = entries[digest], entry.until > now {
      return .active(entry.host, remaining: Int64(entry.until.milliseconds(since: now)))
    }
    if let flight = flights[digest] { return try await flight.value.get() }
    let flight = Task(executorPreference: EventLoop.shared) { await self.lookUp(digest) }
    flights[digest] = flight
    return try await flight.value.get()
  }

  /// Forgets the host's earlier session: a newer one has been made.
  func forget(_ fingerprint: HostFingerprint) {
    mints += 1
    // Whoever asks from now on must not share an answer from before.
    flights = [:]
    for digest in entries.filter({ $0.value.host.fingerprint == fingerprint }).keys { entries[digest] = nil }
  }

  private func lookUp(_ digest: [UInt8]) async -> Result<SessionStanding, Problem> {
    defer { flights[digest] = nil }
    guard await gate.enter() else { return .failure(.busy("too many session look-ups")) }
    defer { gate.leave() }
    let mintsBefore = mints
    // From when it was asked: the answer may have been long on its way.
    let asked = clock()
    do throws(Problem) {
      let standing = try await ask(digest)
      // Only good ones: whoever makes tokens up must not fill the memory.
      if case .active(let host, let remaining) = standing, mints == mintsBefore {
        remember(digest, host, until: asked.advanced(milliseconds: min(Self.life, Int(clamping: remaining))))
      }
      return .success(standing)
    } catch {
      return .failure(error)
    }
  }

  private func remember(_ digest: [UInt8], _ host: Host, until: Monotonic) {
    entries[digest] = Entry(host: host, until: until)
    order.append(digest)
    while order.count - oldest > Self.limit { drop() }
    // What has lapsed goes as new ones come, so that the memory follows the traffic.
    for _ in 0..<2 where oldest < order.count {
      guard let entry = entries[order[oldest]], entry.until > clock() else {
        drop()
        continue
      }
      break
    }
    if oldest > Self.limit {
      order.removeFirst(oldest)
      oldest = 0
    }
  }

  private func drop() {
    entries[order[oldest]] = nil
    oldest += 1
  }
}
