internal import Contract
internal import Json

/// The gateway as a host uses it: proves by itself, keeps the session, and gives every outcome as a value.
///
///     let gateway = try GatewayClient(gateway: "https://push.example.com", keys: keys)
///     let phone = await gateway.register(deviceId: "my-phone", token: .android(token))
///
/// A request has 15 s. A session is proved for when the first call needs one, renewed 60 s before its end, and once for
/// however many calls wait for it. A 401 leads to one renewal and one repeat. A refused proof is remembered for 30 s and
/// a proof that was throttled for 60 s, so that a host that is not wanted does not keep asking; a failure to reach the
/// gateway is not remembered at all.
public actor GatewayClient {
  /// How long a request may take, ms.
  static let deadline: Int64 = 15_000

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
    var rejected: String?
    var tries = 0
    while true {
      tries += 1
      let grant = try await grant(rejected: rejected)
      var call = call
      call.bearer = grant.session.token
      let reply = try await exchange(call)
      guard reply.status == 401, let fault = reply.fault(expecting: 200) else { return reply }
      // What another process left behind may be stale as well; what was proved for because of a 401 may not.
      if rejected != nil && grant.isProved || tries == 3 {
        keeper.refused(grant.session.token, fault, uptime: clock.uptime())
        throw fault
      }
      rejected = grant.session.token
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
    if let found = await shelf?.session(), found.origin == origin, found.host == keys.fingerprint,
      found.token != rejected, found.isFresh(at: clock.wall())
    {
      return Grant(session: found, isProved: false)
    }
    let challenge = try await exchange(HttpCall("POST", "/v1/host/challenge", body: Requests.challenge(keys)))
    let (id, proof) = try challenge.answer(origin: origin, keys: keys, now: clock.wall())
    let answer = try await exchange(HttpCall("POST", "/v1/host/session", body: Requests.session(id, proof)))
    let session = try answer.session(origin: origin, keys: keys, now: clock.wall())
    await shelf?.keep(session)
    return Grant(session: session, isProved: true)
  }
}

/// Where a session is kept beside the memory of one process.
protocol SessionShelf: Sendable {
  /// The session that was kept last, if any.
  func session() async -> HostSession?
  /// Keeps a session; failing to is no failure of the call that proved for it.
  func keep(_ session: HostSession) async
}
