internal import CNghttp2
internal import Loop
internal import Tls

/// One HTTP/2 connection of a pool: socket, TLS, session, and the requests in flight on it. Output is gathered and
/// written at the end of each turn of the loop, and sooner once it is enough for a write of its own.
@LoopActor
final class Http2Connection: Readiness, Flushable {
  private(set) var state: Http2ConnectionState
  private var liveness: Http2Liveness
  private let limits: Http2PoolLimits
  // Until the end of this connection; so a pool must be closed, not just let go.
  private var pool: Http2Pool?
  private var transport: ClientTransport?
  private var session: Http2ClientSession?
  private(set) var exchanges: [Int32: Http2Exchange] = [:]
  // It holds the connection until it ends: an object that something refers to weakly is dearer to hold each time, here for
  // each request.
  private var timer: Timer?
  private var timerDue = Monotonic(nanoseconds: .max)
  private var retireAt: Monotonic
  private let opening: Monotonic
  private var goAway: Http2GoAway?
  /// Since when the server has allowed no request at all; nil while it does.
  private(set) var barredSince: Monotonic?
  /// Some request was answered: whatever happens later, connecting is not what fails.
  private(set) var hasAnswered = false

  private var output: Http2Output?
  private var flushAsked = false
  /// Bytes of bodies that were submitted since the last write.
  private var gathered = 0
  /// Were all of a turn's requests written at its end, the far end would be idle meanwhile, and this one while the far end
  /// answers. With their heads, so many bytes of bodies are a TLS record that is nearly full: smaller writes cost more.
  private static let worthWriting = 12 * 1024
  private var writeBlocked = false

  // The session must not be freed while it calls back.
  private var insideSession = false
  private var endsAfterSession: Ending?
  private var goodbyeSaid = false

  /// How a connection came to its end.
  enum Ending {
    case failedToOpen(ConnectFailure)
    case lost(String)
    /// As it should, with nothing in flight.
    case drained
  }

  init(limits: Http2PoolLimits, pool: Http2Pool) {
    self.limits = limits
    self.pool = pool
    let now = Monotonic.now
    opening = now
    state = Http2ConnectionState(limits: limits)
    liveness = Http2Liveness(limits: limits, now: now)
    let age = limits.connectionAge
    retireAt = now.advanced(milliseconds: age + Int.random(in: 0...(age / 4)))
  }

  /// Since the first step of opening, in ms.
  var age: Int { Monotonic.now.milliseconds(since: opening) }
  var address: String { transport?.address.description ?? "" }

  // MARK: Opening

  /// Begins to connect; the pool hears of the outcome within the limits' `connectTimeout`.
  func open(_ origin: Origin, tls: TlsClientContext?, resolver: NameResolver) {
    let deadline = opening.advanced(milliseconds: limits.connectTimeout)
    EventLoop.shared.start {
      do throws(ConnectFailure) {
        let transport = try await ClientTransport.open(
          origin, tls: tls, alpn: "h2", resolver: resolver, before: deadline)
        self.begin(transport, deadline)
      } catch {
        self.finish(.failedToOpen(error))
      }
    }
  }

  private func begin(_ transport: ClientTransport, _ deadline: Monotonic) {
    guard state.phase != .closed else { return transport.close() }
    self.transport = transport
    session = Http2ClientSession(self)
    output = Http2Output()
    EventLoop.shared.watch(transport.descriptor, .read, self)
    timer = EventLoop.shared.after(milliseconds: deadline.milliseconds(since: .now)) { [self] in
      finish(.failedToOpen(ConnectFailure(step: .settings, text: "\(address) sends no HTTP/2 settings")))
    }
    askFlush()
  }

  func receivedSettings() {
    guard let session else { return }
    let step = state.settings(limit: session.peerStreamLimit)
    barredSince = state.peerLimit > 0 ? nil : barredSince ?? .now
    if step == .opened {
      armTimer()
      pool?.opened(self)
    }
    pool?.hasRoom()
  }

  // MARK: Requests

  /// Sends a request; only while `state.free` is above 0. False: it could not become a stream.
  func submit(_ exchange: Http2Exchange, _ now: Monotonic) -> Bool {
    guard let session else { return false }
    exchange.begin(now)
    let id = session.submit(exchange)
    guard id > 0 else {
      take(state.drain())
      return false
    }
    exchange.streamId = id
    exchanges[id] = exchange
    act(liveness.submitting(now, alone: state.inFlight == 0))
    take(state.submitted(id))
    if liveness.nextCheck < timerDue { armTimer() }
    gathered += exchange.request.body.count
    // Not from inside the session, which must not be asked for output while it calls back.
    if gathered >= Self.worthWriting, !insideSession { write() } else { askFlush() }
    return true
  }

  /// Gives a request up whose deadline passed. Its stream counts until HTTP/2 has closed it.
  func timedOut(_ exchange: Http2Exchange, _ now: Monotonic) {
    session?.cancel(exchange.streamId)
    askFlush()
    act(liveness.timedOut(submitted: exchange.submitted, now))
  }

  func streamClosed(_ id: Int32, _ code: UInt32) {
    guard let exchange = exchanges.removeValue(forKey: id) else { return }
    let step = state.streamClosed()
    let failure: Http2Failure?
    if exchange.ended && exchange.response.status != 0 {
      hasAnswered = true
      liveness.answered()
      failure = nil
    } else if code == UInt32(NGHTTP2_REFUSED_STREAM.rawValue) || exchange.notSent {
      failure = .refused
    } else {
      failure = .reset(code)
    }
    pool?.finished(exchange, failure)
    take(step)
    pool?.hasRoom()
  }

  // MARK: Ending

  func received(_ notice: Http2GoAway) {
    goAway = notice
    pool?.goneAway(self, notice)
    take(state.drain())
  }

  /// Takes no more requests, and closes when those in flight are through.
  func drain() { take(state.drain()) }

  /// Closes now; what is in flight fails.
  func close() { finish(.lost("closed")) }

  private func take(_ step: Http2ConnectionState.Step) {
    switch step {
    case .none, .opened: break
    case .startedDraining: pool?.drains(self)
    case .close:
      guard session != nil, !writeBlocked else { return finish(.drained) }
      pool?.drains(self)
      goodbyeSaid = true
      session?.sayGoodbye()
      askFlush()
    }
  }

  private func finish(_ ending: Ending) {
    if insideSession {
      endsAfterSession = endsAfterSession ?? ending
      return
    }
    guard !isFinished else { return }
    isFinished = true
    state.close()
    EventLoop.shared.cancel(timer)
    if let transport {
      EventLoop.shared.forget(transport.descriptor)
      transport.close()
    }
    session?.free()
    session = nil
    output?.free()
    output = nil
    let orphans = exchanges.values.sorted { $0.streamId < $1.streamId }
    exchanges = [:]
    pool?.ended(self, ending)
    let failure = goAway.map { Http2Failure.goneAway($0.words) } ?? .connectionLost
    for orphan in orphans { pool?.finished(orphan, orphan.mayBeProcessed ? failure : .refused) }
    pool?.hasRoom()
    pool = nil
  }
  private var isFinished = false

  private func lost(_ text: String) {
    if state.phase == .opening {
      finish(.failedToOpen(ConnectFailure(step: .settings, text: "\(address): \(text)")))
    } else {
      finish(goodbyeSaid || (state.inFlight == 0 && goAway != nil) ? .drained : .lost(text))
    }
  }

  // MARK: Liveness

  private func act(_ verdict: Http2Liveness.Verdict) {
    switch verdict {
    case .alive: break
    case .ping:
      session?.ping()
      askFlush()
      armTimer()
    case .dead: lost("the server answers nothing")
    }
  }

  private func armTimer() {
    EventLoop.shared.cancel(timer)
    timerDue = min(liveness.nextCheck, state.phase == .open ? retireAt : liveness.nextCheck)
    timer = EventLoop.shared.after(milliseconds: timerDue.milliseconds(since: .now) + 1) { [self] in look() }
  }

  /// What is due by age or by silence.
  private func look() {
    // A loop that was late must not take what lies in the socket for silence.
    receive()
    guard !isFinished else { return }
    askFlush()
    let now = Monotonic.now
    if now >= retireAt, state.phase == .open {
      // Asked again when no successor has come by then.
      retireAt = now.advanced(milliseconds: Self.successorWait)
      pool?.ages(self)
    }
    act(liveness.check(now, waiting: state.inFlight > 0))
    if state.phase != .closed { armTimer() }
  }
  private static let successorWait = 60_000

  // MARK: Bytes

  func ready(_ events: Interest) {
    if writeBlocked, let transport {
      writeBlocked = false
      EventLoop.shared.change(transport.descriptor, .read)
    }
    receive()
    askFlush()
  }

  // Bytes are consumed before the next read of any connection, so one buffer serves all.
  private static let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 * 1024, alignment: 16)

  private func receive() {
    while let transport, let session, !isFinished {
      switch transport.read(into: Self.input) {
      case .bytes(let count):
        liveness.received(.now, waiting: state.inFlight > 0)
        let understood = within { session.receive(UnsafeRawBufferPointer(rebasing: Self.input[..<count])) }
        if !understood { return lost("the server broke the HTTP/2 protocol") }
        if count < Self.input.count && !transport.pending { return }
      case .wantsRead: return
      case .wantsWrite: return block(transport)
      case .closed: return lost("the server closed the connection")
      case .failed(let failure): return lost(failure.text)
      }
    }
  }

  /// Runs the session, and afterwards ends the connection if a callback wanted that.
  private func within<T>(_ body: () -> T) -> T {
    insideSession = true
    let result = body()
    insideSession = false
    if let endsAfterSession { finish(endsAfterSession) }
    return result
  }

  private func askFlush() {
    guard !flushAsked else { return }
    flushAsked = true
    EventLoop.shared.flushAtTurnsEnd(self)
  }

  func flush() {
    flushAsked = false
    write()
  }

  private func write() {
    gathered = 0
    while let transport, let session, !isFinished, !writeBlocked {
      guard within({ output?.fill(from: session) ?? false }) else { return lost("HTTP/2 failed") }
      guard let isEmpty = output?.isEmpty else { return }
      if isEmpty {
        if goodbyeSaid { finish(.drained) } else if session.isOver { lost("the server broke the HTTP/2 protocol") }
        return
      }
      switch output?.write(to: transport) ?? .closed {
      case .bytes: break
      case .wantsWrite, .wantsRead: goodbyeSaid ? finish(.drained) : block(transport)
      case .closed: lost("the server closed the connection")
      case .failed(let failure): lost(failure.text)
      }
    }
  }

  private func block(_ transport: ClientTransport) {
    writeBlocked = true
    EventLoop.shared.change(transport.descriptor, [.read, .write])
  }
}
