internal import Contract
internal import Http
internal import Keys
internal import Loop
internal import Operations
internal import Providers
internal import Stores

/// All lanes of the process, and what keeps them going: wake-ups, ticks, renewals.
@LoopActor
final class LaneFloor {
  /// A lane that nothing wakes looks at its queue this often, in ms: due retries of other workers, lapsed leases, lost
  /// wake-ups. With three routes, and the depth of the queue every 5 s, that is less than two statements a second.
  static let tick = 1_800
  /// The depth of the queue is measured this often while somebody may read it, in ms.
  static let measure = 5_000
  static let expiryChunk = 500

  private let lanes: [Lane]
  /// Routes that this worker has no credential for: their deliveries stay pending.
  private let idleRoutes: [Route]
  private let queue: OpenStore
  private let context: LaneContext
  private let metrics: WorkerMetrics
  private let senders: Senders
  private let configuration: WorkerConfiguration
  private var tasks: [Task<Void, Never>] = []

  init(
    _ configuration: WorkerConfiguration, _ senders: Senders, _ queue: OpenStore, _ registry: Metrics, _ log: Log
  ) {
    self.configuration = configuration
    self.senders = senders
    self.queue = queue
    metrics = WorkerMetrics(registry)
    context = LaneContext(
      store: queue.store, capacity: configuration.lanes * configuration.batch, batch: configuration.batch,
      counts: DeliveryCounts(metrics), log: log, faults: LogTally(log, "the queue could not be reached"),
      random: { Double.random(in: 0...1) })
    let context = context
    lanes = senders.byRoute.map { Lane(route: $0.route, sender: $0.sender, context: context) }
    let served = Set(lanes.map(\.route))
    idleRoutes = Route.allCases.filter { !served.contains($0) }
    metrics.showCredentialAge { [senders] provider in
      senders.byRoute.first { $0.route.provider == provider }?.sender.credentialAge
    }
    registry.onScrape { [weak self] in self?.show() }
  }

  /// What the worker sends, and for which app and project: their defaults are the maker's own.
  var summary: [String: LogField] {
    var summary: [String: LogField] = [
      "routes": .text(lanes.map { "\($0.route)" }.joined(separator: " ")),
      "capacity": .integer(Int64(context.capacity)), "project": .text(configuration.fcm.projectId),
    ]
    if let apns = configuration.apns { summary["topic"] = .text(apns.topic) }
    return summary
  }

  func start() {
    queue.watch.start { [lanes] routes in for lane in lanes where routes.contains(lane.route) { lane.wake() } }
    for (place, lane) in lanes.enumerated() {
      // Apart from one another, so that an idle worker's statements do not come in bunches.
      every(Self.tick, first: place * Self.tick / lanes.count) { [self] in
        lane.look()
        lane.remind(.now)
        if lane.parking.isParked { await expire() }
      }
      every(Leases.renewal, first: Leases.renewal) { await lane.renewLeases() }
    }
    if !idleRoutes.isEmpty {
      every(Self.measure, first: Self.measure) { [self] in
        await expire()
        await explainIdle()
      }
    }
    if configuration.metricsPort != nil { every(Self.measure, first: 0) { [self] in await measureDepth() } }
  }

  private func every(_ milliseconds: Int, first: Int, _ body: @escaping @LoopActor () async -> Void) {
    tasks.append(
      EventLoop.shared.start {
        do {
          try await EventLoop.shared.sleep(milliseconds: first)
          while true {
            await body()
            try await EventLoop.shared.sleep(milliseconds: milliseconds)
          }
        } catch {
          // Cancelled: the worker drains.
        }
      })
  }

  /// Ends what no lane will claim before its deadline.
  private func expire() async {
    while let count = try? await queue.store.expire(limit: Self.expiryChunk), count >= Self.expiryChunk {}
  }

  /// Says of what waits on a route without a credential why it does, unless another worker takes it.
  private func explainIdle() async {
    while let count = try? await queue.store.explain(
      idleRoutes, DeliveryReason.lacksCredential, overdue: Int64(Self.measure), limit: Self.expiryChunk),
      count >= Self.expiryChunk
    {}
  }

  private func measureDepth() async {
    guard let depth = try? await queue.store.depth() else { return }
    metrics.queueDepth.set(Double(depth.deliveries))
    metrics.queueOldestDueSeconds.set(Double(depth.oldestDue) / 1000)
  }

  /// Brings the gauges up to date.
  private func show() {
    for provider in ["apns", "fcm"] {
      let own = lanes.filter { $0.route.provider == provider }
      metrics.inFlight.at(provider).set(own.reduce(0) { $0 + $1.sender.inFlight })
      metrics.providerConnections.at(provider).set(own.reduce(0) { $0 + $1.sender.connectionCount })
    }
    for lane in lanes {
      metrics.laneParked.at(lane.route.provider, lane.route.environment).set(lane.parking.isParked)
    }
  }

  /// The state of each route, and of the database, in plain words.
  func ready() async -> HttpResponse {
    let database = await within(milliseconds: WorkerReadiness.patience) { [queue] in
      await WorkerReadiness.state(of: queue.store)
    }
    return WorkerReadiness.report(
      lanes.map { ($0.route, state($0)) } + idleRoutes.map { ($0, .notConfigured) },
      database: database ?? .unreachable)
  }

  private func state(_ lane: Lane) -> WorkerReadiness.LaneState {
    if let reason = lane.parking.reason { return .parked(reason) }
    if lane.breaker.isOpen { return .invalidationPaused }
    let refusal = senders.byRoute.first { $0.route == lane.route }?.sender.refusal
    return refusal.map { .newCredentialRefused($0) } ?? .open
  }

  /// Something may have been mended on these routes: parked lanes need not wait for their next probe.
  func probe(_ routes: [Route]) {
    for lane in lanes where routes.contains(lane.route) { lane.probeSoon() }
  }

  /// Stops claiming at once, lets what is in flight finish, gives back the rest (rulings 6.12).
  func drain(milliseconds: Int) async {
    for task in tasks { task.cancel() }
    queue.watch.stop()
    for lane in lanes { lane.drain() }
    let end = Monotonic.now.advanced(milliseconds: milliseconds - 500)
    while lanes.contains(where: { $0.held > 0 }) && Monotonic.now < end {
      try? await EventLoop.shared.sleep(milliseconds: 10)
    }
    for lane in lanes { await lane.abandon() }
    await context.releaser.idle()
    context.faults.flush()
    await senders.close()
  }
}
