internal import Contract
internal import Http
internal import Loop
internal import Operations
internal import Stores

/// Takes each request to its endpoint and sees to it that there is an answer.
@LoopActor
final class FrontDoor {
  /// How long a request may take, in ms: whatever hangs behind it, its sender is told to come again.
  static let patience = 4_800

  private let configuration: ApiConfiguration
  private let metrics: ApiMetrics
  private let isDraining: @LoopActor () -> Bool
  private let trouble: LogTally
  private let faults: LogTally

  private let health: HealthEndpoint
  let ready: ReadyEndpoint
  private let challenge: ChallengeEndpoint
  private let session: SessionEndpoint
  private let devices: DevicesEndpoint
  private let send: SendEndpoint
  private let deliveries: DeliveriesEndpoint

  init(
    _ configuration: ApiConfiguration, database: Database, metrics: ApiMetrics, log: Log,
    isDraining: @escaping @LoopActor () -> Bool
  ) {
    self.configuration = configuration
    self.metrics = metrics
    self.isDraining = isDraining
    trouble = LogTally(log, "requests were told to come again")
    faults = LogTally(log, "requests failed by a fault of the gateway", severity: .error)
    let sessions = SessionCache { digests throws(Problem) in
      try await database.call { store throws(StoreFailure) in try await store.sessions(tokenDigests: digests) }
    }
    let callers = Callers(sessions: sessions, trustedHops: configuration.trustedProxyHops)
    let admissions = Admissions(calls: database.admissionCalls, batchSize: metrics.admissionBatchSize) {
      sends throws(StoreFailure) in try await database.admit(sends)
    }
    health = HealthEndpoint(mode: configuration.mode)
    ready = ReadyEndpoint(callers: callers, database: database, mode: configuration.mode)
    challenge = ChallengeEndpoint(callers: callers, database: database, origin: configuration.publicOrigin.text)
    session = SessionEndpoint(callers: callers, database: database, sessions: sessions)
    devices = DevicesEndpoint(callers: callers, database: database)
    send = SendEndpoint(callers: callers, admissions: admissions, sends: metrics.sends)
    deliveries = DeliveriesEndpoint(callers: callers, database: database)
  }

  /// Answers a request, within 5 s.
  func answer(_ request: HttpRequest) async -> HttpResponse {
    let began = Monotonic.now
    let resource = Resource(path: request.path)
    let reply: HttpResponse
    do throws(Problem) {
      reply = try await open(resource, request)
    } catch {
      note(error)
      reply = error.reply
    }
    let pattern = resource?.pattern ?? MetricLabel.other
    metrics.requests.increment(pattern, String(reply.status))
    metrics.requestSeconds.observe(Monotonic.now.seconds(since: began), pattern)
    return reply
  }

  /// Tells what has gathered for the log; to be called before the program ends.
  func flushLog() {
    trouble.flush()
    faults.flush()
  }

  private func open(_ resource: Resource?, _ request: HttpRequest) async throws(Problem) -> HttpResponse {
    if isDraining() { throw .shuttingDown }
    if configuration.mode == .validation, resource != .health, resource != .ready { throw .validationOnly }
    guard let resource else { throw .notFound }
    guard resource.methods.contains(request.method) else { throw .methodNotAllowed(resource.methods) }
    if resource == .health { return health.get() }
    let result = await within(milliseconds: Self.patience) { await self.result(resource, request) }
    guard let result else { throw .busy("out of time") }
    return try result.get()
  }

  private func result(_ resource: Resource, _ request: HttpRequest) async -> Result<HttpResponse, Problem> {
    do throws(Problem) { return .success(try await route(resource, request)) } catch { return .failure(error) }
  }

  private func route(_ resource: Resource, _ request: HttpRequest) async throws(Problem) -> HttpResponse {
    switch resource {
    case .health: health.get()
    case .ready: try await ready.get(request)
    case .challenge: try await challenge.post(request)
    case .session: try await session.post(request)
    case .devices where request.method == "POST": try await devices.post(request)
    case .devices: try await devices.get(request)
    case .device(let id): try await devices.delete(id, request)
    case .send: try await send.post(request)
    case .deliveries: try await deliveries.get(request)
    }
  }

  private func note(_ problem: Problem) {
    guard let cause = problem.cause else { return }
    (problem.status == 500 ? faults : trouble).count(cause)
  }
}
