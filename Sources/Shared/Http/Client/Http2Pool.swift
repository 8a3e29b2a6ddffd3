package import Loop
package import Tls

/// The HTTP/2 connections to one origin for one credential, and the requests that wait for a stream on them.
/// It opens connections when requests wait, spreads requests over them, replaces those that the server retires, and
/// sends requests again that no server looked at. Its owner ends it with `close` or `drain`.
@LoopActor
package final class Http2Pool {
  private let origin: Origin
  private let tls: TlsClientContext?
  private let limits: Http2PoolLimits
  private let resolver: NameResolver
  private let events: @LoopActor (Http2PoolEvent) -> Void

  /// Open or draining.
  private var connections: [Http2Connection] = []
  /// The one being opened; never two at once, since providers take a burst of connects for an attack.
  private var opening: Http2Connection?
  private var queue = Http2Queue()
  private var backoff: ConnectBackoff
  /// Another connection is to be opened though nothing waits for it.
  private var anotherWanted = false
  /// Old ones, which serve until their successor is open.
  private var aged: [Http2Connection] = []
  /// Since when every connection has been crowded, as far as requests that came have seen.
  private var crowdedSince: Monotonic?
  private var ended = false

  // They hold the pool, as its connections do.
  private var openTimer: Timer?
  private var barTimer: Timer?
  private var sweepTimer: Timer?
  private var sweepDue: Monotonic?

  /// - Parameters:
  ///   - tls: for a secure origin.
  ///   - events: called on the loop; it must not call `send`.
  package init(
    origin: Origin, tls: TlsClientContext?, limits: Http2PoolLimits = Http2PoolLimits(),
    resolver: NameResolver = .system, events: @escaping @LoopActor (Http2PoolEvent) -> Void = { _ in }
  ) {
    self.origin = origin
    self.tls = tls
    self.limits = limits
    self.resolver = resolver
    self.events = events
    backoff = ConnectBackoff(limits: limits)
  }

  // MARK: For the owner

  /// Told what came of a request.
  package typealias Done = @LoopActor (Result<Http2ClientResponse, Http2Failure>) -> Void

  /// Sends a request; `done` is called once, later, within the request's deadline, which covers the wait for a free stream
  /// too. For callers with thousands of requests on their way: a task that waits takes several kB.
  package func send(_ request: Http2ClientRequest, _ done: @escaping Done) {
    admit(Http2Exchange(request, now: .now, done))
  }

  /// Sends a request and waits for its answer. The request's deadline alone ends the wait: what has left cannot be called
  /// back, so a cancelled task is not listened to.
  package func send(_ request: Http2ClientRequest) async throws(Http2Failure) -> Http2ClientResponse {
    try await withUnsafeContinuation { waiter in send(request) { waiter.resume(returning: $0) } }.get()
  }

  /// How many requests are worth sending now: free streams, or, where only waiting requests make the pool open
  /// another connection, a few. 0 while a server that cannot be reached is left alone.
  package var freeCapacity: Int {
    guard !ended else { return 0 }
    let free = connections.reduce(0) { $0 + $1.state.free } - queue.count
    guard free <= 0 else { return free }
    let mayGrow = usable < limits.connections && Monotonic.now >= backoff.notBefore
    return mayGrow ? max(0, Self.seedsOfGrowth - queue.count) : 0
  }
  private static let seedsOfGrowth = 8

  /// Requests on their way, those that wait for a stream not counted.
  package var inFlight: Int { connections.reduce(0) { $0 + $1.state.inFlight } }

  /// Requests that wait for a stream.
  package var waiting: Int { queue.count }

  /// Connections that take requests.
  package var connectionCount: Int { usable }

  /// Drains all connections and opens a new one: for faults of a credential, which servers remember by connection.
  package func replaceConnections() {
    for connection in connections { connection.drain() }
    anotherWanted = true
    openIfNeeded(.now)
  }

  /// Takes no more requests; those that wait fail as `.refused`, those in flight finish, then the connections close.
  package func drain() {
    end()
    for connection in connections { connection.drain() }
  }

  /// Closes all at once: what is in flight fails.
  package func close() {
    end()
    for connection in connections { connection.close() }
    EventLoop.shared.cancel(sweepTimer)
  }

  private func end() {
    ended = true
    EventLoop.shared.cancel(openTimer)
    EventLoop.shared.cancel(barTimer)
    opening?.close()
    for exchange in queue.take({ _ in true }) { exchange.settle(.refused) }
  }

  // MARK: Requests

  private func admit(_ exchange: Http2Exchange) {
    guard !ended else { return exchange.settle(.refused) }
    let now = exchange.arrived
    guard exchange.deadline > now else { return exchange.settle(.timedOut(sent: false)) }
    if sweepDue.map({ exchange.deadline < $0 }) ?? true { sweep(at: exchange.deadline) }
    if queue.isEmpty, let connection = idlest(), connection.submit(exchange, now) { return watchCrowd(now) }
    guard queue.count < limits.waiting else { return exchange.settle(.overloaded) }
    queue.append(exchange)
    retireBarred(now)
    openIfNeeded(now)
  }

  /// Fails what has passed its deadline. One timer, at the earliest deadline, serves all requests.
  private func sweep(at due: Monotonic) {
    EventLoop.shared.cancel(sweepTimer)
    sweepDue = due
    sweepTimer = EventLoop.shared.after(milliseconds: due.milliseconds(since: .now) + 1) { [self] in sweep() }
  }

  private func sweep() {
    sweepDue = nil
    let now = Monotonic.now
    for exchange in queue.take({ $0.deadline <= now }) { exchange.settle(.timedOut(sent: false)) }
    // All are settled before any connection hears of it: one that ends gives back what is not.
    var late: [(Http2Connection, Http2Exchange)] = []
    for connection in connections {
      for exchange in connection.exchanges.values where !exchange.isSettled && exchange.deadline <= now {
        exchange.settle(.timedOut(sent: exchange.mayBeProcessed))
        late.append((connection, exchange))
      }
    }
    for (connection, exchange) in late { connection.timedOut(exchange, now) }
    let open = connections.flatMap { $0.exchanges.values.filter { !$0.isSettled }.map(\.deadline) }
    if let next = (open + queue.deadlines).min() { sweep(at: next) }
  }

  // MARK: Connections

  private var usable: Int { connections.reduce(0) { $0 + ($1.state.phase == .open ? 1 : 0) } }

  /// Of those with room, the one with the least to do: Apple lets a fresh connection have one stream until it has seen a
  /// push there, so the one with the most room would always be the old one.
  private func idlest() -> Http2Connection? {
    var best: Http2Connection?
    var least = Int.max
    for connection in connections where connection.state.free > 0 && connection.state.inFlight < least {
      best = connection
      least = connection.state.inFlight
    }
    return best
  }

  /// Opens another connection when all have been crowded for a while.
  private func watchCrowd(_ now: Monotonic) {
    for connection in connections where connection.state.phase == .open && connection.state.inFlight < limits.crowd {
      crowdedSince = nil
      return
    }
    guard let since = crowdedSince else { return crowdedSince = now }
    guard now >= since.advanced(milliseconds: limits.crowdedFor), usable < limits.connections else { return }
    crowdedSince = nil
    anotherWanted = true
    openIfNeeded(now)
  }

  /// Requests wait: connections on which the server has allowed none for a while make room for others. They answer PINGs, so
  /// nothing else would ever end them.
  private func retireBarred(_ now: Monotonic) {
    EventLoop.shared.cancel(barTimer)
    guard !ended, !queue.isEmpty else { return }
    var next: Monotonic?
    for connection in connections where connection.state.phase == .open {
      guard let due = connection.barredSince?.advanced(milliseconds: limits.barredFor) else { continue }
      if due <= now {
        events(.lost("the server allows no requests"))
        connection.drain()
      } else {
        next = min(next ?? due, due)
      }
    }
    guard let next else { return }
    barTimer = EventLoop.shared.after(milliseconds: next.milliseconds(since: now) + 1) { [self] in
      retireBarred(.now)
      openIfNeeded(.now)
    }
  }

  private func openIfNeeded(_ now: Monotonic) {
    guard !ended, opening == nil, anotherWanted || !queue.isEmpty else { return }
    guard usable < limits.connections || !aged.isEmpty else { return }
    // A barred one that has answered nothing ends in this turn, as a failed connect: its successor waits for that pause.
    guard !connections.contains(where: { $0.barredSince != nil && $0.state.phase == .closed && !$0.hasAnswered })
    else { return }
    var due = backoff.notBefore
    if !anotherWanted, usable > 0, let oldest = queue.oldestArrival {
      due = max(due, oldest.advanced(milliseconds: limits.growAfter))
    }
    EventLoop.shared.cancel(openTimer)
    guard now >= due else {
      openTimer = EventLoop.shared.after(milliseconds: due.milliseconds(since: now) + 1) { [self] in
        openIfNeeded(.now)
      }
      return
    }
    let connection = Http2Connection(limits: limits, pool: self)
    opening = connection
    backoff.began(now)
    connection.open(origin, tls: tls, resolver: resolver)
  }

  // MARK: From the connections

  func opened(_ connection: Http2Connection) {
    opening = nil
    anotherWanted = false
    connections.append(connection)
    let old = aged
    aged = []
    for connection in old { connection.drain() }
    events(.connected(address: connection.address, milliseconds: connection.age))
  }

  /// A stream came free, or a server allows more.
  func hasRoom() {
    guard !queue.isEmpty else { return }
    let now = Monotonic.now
    while let connection = idlest(), let exchange = queue.next() {
      // After a pause of the whole process the sweep is yet to come, and nothing goes out late.
      if exchange.deadline <= now {
        exchange.settle(.timedOut(sent: false))
        continue
      }
      if !connection.submit(exchange, now) { queue.putBack(exchange) }
    }
    retireBarred(now)
    openIfNeeded(now)
  }

  /// A request has its answer, or will have none.
  func finished(_ exchange: Http2Exchange, _ failure: Http2Failure?) {
    if failure == nil { backoff.succeeded() }
    if failure == .refused, !exchange.isSettled, exchange.resends < limits.resends, !ended {
      exchange.resends += 1
      queue.putBack(exchange)
    } else {
      exchange.settle(failure)
    }
  }

  func goneAway(_ connection: Http2Connection, _ notice: Http2GoAway) { events(.goneAway(notice)) }

  /// The connection takes no more requests. Its successor is opened before it is through, if there is any traffic and no
  /// other to take it.
  func drains(_ connection: Http2Connection) {
    if connection.state.inFlight > 0, usable == 0 { anotherWanted = true }
    openIfNeeded(.now)
  }

  /// The connection has grown old: it serves on until its successor is open. One of several that has nothing to do needs
  /// none.
  func ages(_ connection: Http2Connection) {
    if usable > 1, connection.state.inFlight == 0 { return connection.drain() }
    if !aged.contains(where: { $0 === connection }) { aged.append(connection) }
    anotherWanted = true
    openIfNeeded(.now)
  }

  func ended(_ connection: Http2Connection, _ ending: Http2Connection.Ending) {
    connections.removeAll { $0 === connection }
    aged.removeAll { $0 === connection }
    if opening === connection { opening = nil }
    let now = Monotonic.now
    if !connection.hasAnswered { backoff.failed(now, random: .random(in: 0..<1)) }
    switch ending {
    case .drained: events(.drained)
    case .lost(let text): if !ended { events(.lost(text)) }
    case .failedToOpen(let failure):
      anotherWanted = false
      events(.connectFailed(failure))
      if usable == 0 { for exchange in queue.take({ _ in true }) { exchange.settle(.connect(failure)) } }
    }
    openIfNeeded(now)
  }
}
