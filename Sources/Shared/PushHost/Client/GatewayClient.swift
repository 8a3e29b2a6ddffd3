internal import Contract
internal import Json

/// The gateway as a host uses it: proves by itself, keeps the session, and gives every outcome as a value.
///
///     let gateway = try GatewayClient(gateway: "https://push.example.com", keys: keys)
///     let phone = await gateway.register(deviceId: "my-phone", token: .android(token))
///
/// A request has 15 s. A session is proved for when the first call needs one, renewed 60 s before its end, and once for
/// however many calls wait for it, in all processes that share the state folder. A 401 leads to a repeat: with the session
/// that someone else got meanwhile, if there is one, or else with a renewed one, which a call asks for once. A refused
/// proof is remembered for 30 s and a proof that was throttled for 60 s, so that a host that is not wanted does not keep
/// asking; a failure to reach the gateway is not remembered at all.
public actor GatewayClient {
  /// How long a request may take, ms.
  static let deadline: Int64 = 15_000
  /// How often a call is sent at most: others that keep replacing the session shall not keep it going for ever.
  static let tries = 5

  let origin: String
  let keys: HostKeys
  let clock: HostClock
  private let transport: any Transport
  private let shelf: (any SessionShelf)?
  private var keeper = SessionKeeper()
  private var proving: Task<Result<Grant, GatewayFault>, Never>?

  /// - Parameters:
  ///   - gateway: the gateway's address: https, or http on this machine. It is part of what is proved, so it must be the
  ///     one that the gateway knows itself by.
  ///   - keys: who this host is.
  ///   - state: where the session is kept for this host's other processes and later runs; nil for nowhere. A host has one
  ///     session: processes of one host that do not share it end each other's.
  public init(gateway: String, keys: HostKeys, state: StateFolder? = nil) throws(GatewayAddressFault) {
    let origin = try GatewayAddress.origin(gateway)
    self.init(origin: origin, keys: keys, transport: UrlSessionTransport(address: origin), shelf: state)
  }

  init(
    origin: String, keys: HostKeys, transport: any Transport, shelf: (any SessionShelf)? = nil,
    clock: HostClock = .system
  ) {
    self.origin = origin
    self.keys = keys
    self.transport = transport
    self.shelf = shelf
    self.clock = clock
  }

  // MARK: Calls

  /// A call that needs a session, from its first proof to its answer.
  func ask(_ call: HttpCall) async throws(GatewayFault) -> HttpReply {
    var grant = try await grant(rejected: nil)
    var isRenewed = false
    var tries = 0
    while true {
      tries += 1
      let session = grant.session
      var call = call
      call.bearer = session.token
      let reply = try await exchange(call)
      guard reply.status == 401, let fault = reply.fault(expecting: 200) else { return reply }
      if !isRenewed && tries < Self.tries {
        // What was kept or left behind may be stale: a session that someone else got meanwhile costs no proof.
        grant = try await self.grant(rejected: session.token)
        isRenewed = grant.isProved
      } else if tries < Self.tries, let other = await replacement(of: session) {
        // Another process has proved since this call did.
        grant = Grant(session: other, isProved: false)
      } else {
        keeper.refused(session.token, fault, uptime: clock.uptime())
        throw fault
      }
    }
  }

  /// A call that needs none.
  func exchange(_ call: HttpCall) async throws(GatewayFault) -> HttpReply {
    switch await transport.exchange(call, deadline: Self.deadline) {
    case .success(let reply): return reply
    case .failure(let unreachable): throw .unreachable(unreachable)
    }
  }

  // MARK: The session

  /// A session, and whether it was proved for or found.
  private struct Grant {
    let session: HostSession
    let isProved: Bool
  }

  private func grant(rejected: String?) async throws(GatewayFault) -> Grant {
    switch keeper.next(rejected: rejected, wall: clock.wall(), uptime: clock.uptime()) {
    case .use(let session): return Grant(session: session, isProved: false)
    case .refuse(let fault): throw fault
    case .prove: break
    }
    // One proof for all who wait. It goes on when the caller that began it is cancelled.
    if let proving { return try await proving.value.get() }
    let task = Task { await self.renew(rejected: rejected) }
    proving = task
    return try await task.value.get()
  }

  private func renew(rejected: String?) async -> Result<Grant, GatewayFault> {
    defer { proving = nil }
    do throws(GatewayFault) {
      let grant = try await findOrProve(rejected: rejected)
      keeper.keep(grant.session)
      return .success(grant)
    } catch {
      keeper.failed(error, uptime: clock.uptime())
      return .failure(error)
    }
  }

  /// Uses this session from now on, and leaves it for other processes.
  func keep(_ session: HostSession) async {
    keeper.keep(session)
    await shelf?.keep(session)
  }

  private func findOrProve(rejected: String?) async throws(GatewayFault) -> Grant {
    if let found = await found(otherThan: rejected) { return Grant(session: found, isProved: false) }
    // A proof ends the session before it. So one process proves while the others wait, who then find what it got.
    let turn = await takeTurn()
    defer { turn?.release() }
    if let found = await found(otherThan: rejected) { return Grant(session: found, isProved: false) }
    let challenge = try await exchange(HttpCall("POST", "/v1/host/challenge", body: Requests.challenge(keys)))
    let (id, proof) = try challenge.answer(origin: origin, keys: keys, now: clock.wall())
    let answer = try await exchange(HttpCall("POST", "/v1/host/session", body: Requests.session(id, proof)))
    let session = try answer.session(origin: origin, keys: keys, now: clock.wall())
    await shelf?.keep(session)
    return Grant(session: session, isProved: true)
  }

  /// The turn to prove; nil where there is nobody to take turns with, or no waiting for them any more.
  func takeTurn() async -> FolderLock? { await shelf?.turn() }

  /// A session that another process left, good for this gateway and host.
  private func found(otherThan rejected: String?) async -> HostSession? {
    guard let found = await shelf?.session(), found.origin == origin, found.host == keys.fingerprint,
      found.token != rejected, found.isFresh(at: clock.wall())
    else { return nil }
    return found
  }

  /// The session that was got in place of one that the gateway has just refused, by whoever; nil when there is none.
  private func replacement(of refused: HostSession) async -> HostSession? {
    if let kept = keeper.session, kept.token != refused.token, kept.isFresh(at: clock.wall()) { return kept }
    // In turn: whoever has ended the refused one may be about to leave another.
    let turn = await takeTurn()
    defer { turn?.release() }
    guard let found = await found(otherThan: refused.token) else { return nil }
    keeper.keep(found)
    return found
  }
}

/// Where a session is kept beside the memory of one process.
protocol SessionShelf: Sendable {
  /// The session that was kept last, if any.
  func session() async -> HostSession?
  /// Keeps a session; failing to is no failure of the call that proved for it.
  func keep(_ session: HostSession) async
  /// The turn to prove, which one has at a time; nil when there is none to be had. Whoever takes it releases it.
  func turn() async -> FolderLock?
}
