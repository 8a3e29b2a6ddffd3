package import Loop

/// A few connections shared by all callers of the process, each carrying several statements at a time.
///
/// A statement goes to an idle connection if there is one; else a new one is opened, up to the maximum, and the
/// statement joins the least busy one; else it waits in a queue; else it is refused. A server that is down is probed in
/// the background, and until it answers every statement fails at once.
///
/// Call it from tasks that prefer the loop (`Task(executorPreference: EventLoop.shared)`): any other task passes through
/// the shared thread pool each time it is resumed, at two to three times the cost.
@LoopActor
package final class PostgresPool: PooledConnection.Owner {
  private let session: SessionSettings
  private let applicationName: String
  private let maximum: Int
  private let limits: PostgresLimits
  private let log: @LoopActor (String) -> Void

  private var connections: [PooledConnection] = []
  private var opening = 0
  private var queue = Fifo<PostgresCall>()
  private var queueTimer: Timer?
  private var backoff = Backoff()
  /// While set, no connection is opened but by the timer that will clear it.
  private var pause: Timer?
  /// Why there is no connection, once an attempt has failed; nil when the next call may try.
  private var down: String?
  private var isClosed = false
  private var closer: CheckedContinuation<Void, Never>?

  /// Opens nothing yet. `log` gets single lines without values: the server lost and regained.
  /// Scripts and listeners have connections of their own beyond `maximum`.
  package init(
    _ url: PostgresUrl, maximum: Int, applicationName: String, limits: PostgresLimits = .init(),
    log: @escaping @LoopActor (String) -> Void
  ) {
    self.applicationName = applicationName
    self.maximum = max(1, maximum)
    self.limits = limits
    self.log = log
    session = SessionSettings(
      url, applicationName: applicationName, statementMilliseconds: limits.statementMilliseconds)
  }

  /// Runs one statement in a transaction of its own: one round trip, answered within `limits.statementMilliseconds`.
  package func run(
    _ statement: PostgresStatement, _ values: [PostgresValue] = []
  ) async throws(PostgresFailure) -> PostgresRows {
    let deadline = Monotonic.now.advanced(milliseconds: limits.statementMilliseconds)
    return try await withUnsafeContinuation { waiter in
      place(PostgresCall(statement, values, deadline: deadline, waiter))
    }.get()
  }

  /// Runs several statements on a connection of its own, as one transaction unless they say BEGIN and COMMIT themselves.
  package func script(_ sql: String) async throws(PostgresFailure) {
    if isClosed { throw .closed }
    let session = SessionSettings(session.url, applicationName: applicationName, statementMilliseconds: nil)
    let link = try await Connecting.connect(session, attempt: 0, milliseconds: limits.connectMilliseconds)
    try await ScriptRun.run(sql, on: link, milliseconds: limits.scriptMilliseconds)
  }

  /// Connections that are up.
  package var openConnections: Int { connections.count }
  /// Connections with a statement in flight.
  package var busyConnections: Int { connections.count { $0.inFlight > 0 } }
  /// Statements that wait for a place on a connection.
  package var waiting: Int { queue.count }

  /// Takes no more statements, lets those in flight finish, and closes the connections.
  package func close() async {
    if isClosed { return }
    isClosed = true
    EventLoop.shared.cancel(pause)
    EventLoop.shared.cancel(queueTimer)
    failQueue(.closed)
    for connection in connections { connection.retire() }
    // Bounded by the deadlines of the calls in flight. Looked at inside: the last may end on the way into the continuation.
    await withCheckedContinuation { waiter in
      if connections.isEmpty { waiter.resume() } else { closer = waiter }
    }
  }

  // MARK: Placing calls

  private func place(_ call: PostgresCall) {
    if isClosed { return call.answer(.failure(.closed)) }
    var best: PooledConnection?
    for connection in connections where !connection.isRetiring && connection.inFlight < best?.inFlight ?? .max {
      best = connection
      if connection.inFlight == 0 { break }
    }
    if let best, best.inFlight == 0 { return submit(call, to: best) }
    openOneMore()
    if let best, best.inFlight < limits.pipelineDepth { return submit(call, to: best) }
    if connections.isEmpty, let down { return call.answer(.failure(.unreachable(down))) }
    if queue.count >= limits.queue { return call.answer(.failure(.overloaded)) }
    queue.append(call)
    if queueTimer == nil { setQueueTimer(call.deadline) }
  }

  private func submit(_ call: PostgresCall, to connection: PooledConnection) {
    switch connection.submit(call) {
    case .sent: break
    case .refused(let failure): call.answer(.failure(failure))
    case .unsent:
      if call.isSecondTry { return call.answer(.failure(.unreachable("the connection broke"))) }
      tryAgain(call)
    }
  }

  func tryAgain(_ call: PostgresCall) {
    call.isSecondTry = true
    place(call)
  }

  func hasRoom(_ connection: PooledConnection) {
    while !connection.isRetiring, connection.inFlight < limits.pipelineDepth, let call = queue.removeFirst() {
      submit(call, to: connection)
    }
  }

  private func setQueueTimer(_ deadline: Monotonic) {
    queueTimer = EventLoop.shared.after(milliseconds: deadline.milliseconds(since: .now) + 1) { [weak self] in
      self?.checkQueue()
    }
  }

  /// Calls wait in the order of their deadlines, but for a few that are tried again.
  private func checkQueue() {
    queueTimer = nil
    while let first = queue.first {
      guard first.deadline <= .now else { return setQueueTimer(first.deadline) }
      _ = queue.removeFirst()
      first.answer(.failure(.timedOut))
    }
  }

  private func failQueue(_ failure: PostgresFailure) {
    for call in queue.removeAll() { call.answer(.failure(failure)) }
  }

  // MARK: Opening and closing connections

  private func openOneMore() {
    if connections.count + opening < maximum, pause == nil, down == nil, !isClosed { open() }
  }

  private func open() {
    opening += 1
    Task { @LoopActor in
      do throws(PostgresFailure) {
        let link = try await Connecting.connect(
          session, attempt: backoff.failures, milliseconds: limits.connectMilliseconds)
        opened(link)
      } catch {
        failedToOpen(error)
      }
    }
  }

  private func opened(_ link: ServerLink) {
    opening -= 1
    if isClosed { return }
    backoff.succeeded()
    if down != nil {
      down = nil
      log("the database is reachable again")
    }
    let connection = PooledConnection(link, prepares: session.url.prepares, owner: self)
    connections.append(connection)
    hasRoom(connection)
  }

  private func failedToOpen(_ failure: PostgresFailure) {
    opening -= 1
    if isClosed { return }
    let reason = if case .unreachable(let reason) = failure { reason } else { "\(failure)" }
    let wait = backoff.failed(random: .random(in: 0...1))
    if connections.isEmpty {
      if down == nil { log("the database is unreachable: \(reason)") }
      down = reason
      failQueue(.unreachable(reason))
    } else if backoff.failures == 1 {
      log("no further connection to the database: \(reason)")
    }
    if pause != nil { return }
    pause = EventLoop.shared.after(milliseconds: wait) { [weak self] in
      guard let self else { return }
      pause = nil
      if down != nil, opening == 0 { open() }
      if !queue.isEmpty { openOneMore() }
    }
  }

  func closed(_ connection: PooledConnection, _ reason: String?) {
    connections.removeAll { $0 === connection }
    if let reason, !isClosed { log("a connection to the database was lost: \(reason)") }
    if isClosed, connections.isEmpty {
      closer?.resume()
      closer = nil
    }
    if !queue.isEmpty { openOneMore() }
  }
}
