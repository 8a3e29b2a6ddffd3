internal import CLinux
internal import Glibc
internal import Loop
internal import Tls

/// One connection of a server: socket, output, deadlines and the way it ends. The protocol is a `ServerSession`'s.
@LoopActor
final class ServerConnection: Readiness, Flushable {
  private enum Phase {
    case open
    /// No more replies: closes its sending half once the output is written.
    case finishing
    /// Sending half closed; what still comes is thrown away, so that the peer sees the last reply instead of a reset.
    case lingering(discarded: Int)
    case closed
  }

  let id: Int
  let peer: String
  let server: HttpServer
  private let transport: Transport
  private var descriptor: Int32 { transport.descriptor }
  private var isShakingHands: Bool
  /// TLS wants to write before it can read on, or the handshake does.
  private var tlsWantsWrite = false
  private var session: (any ServerSession)?
  private var phase = Phase.open
  private var interest = Interest.read
  private var readingIsPaused = false
  private var peerHasEnded = false
  private var willFlush = false
  /// The kernel took a part of the output only: the rest waits for it to be writable.
  private var isBlocked = false

  private(set) var output: [UInt8] = []
  private var written = 0
  /// The session's deadline; when it passes, the connection is cut.
  private(set) var deadline: Deadline?
  private var writeDeadline: Deadline?

  /// What is read goes through here, and is used up before the call that brought it returns.
  private static let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

  init(id: Int, transport: Transport, peer: String, server: HttpServer) {
    self.id = id
    self.transport = transport
    isShakingHands = transport.tls != nil
    self.peer = peer
    self.server = server
    session = UndecidedSession(self)
    deadline = Deadline { [weak self] in self?.deadlinePassed() }
    writeDeadline = Deadline { [weak self] in self?.close() }
    deadline?.set(milliseconds: isShakingHands ? server.limits.tlsHandshake : server.limits.firstByte)
    EventLoop.shared.watch(descriptor, .read, self)
  }

  // MARK: For sessions

  var isOpen: Bool { if case .open = phase { true } else { false } }

  /// Bytes that the peer has not taken yet.
  var backlog: Int { output.count - written }

  /// Until when it may be idle: the earliest is that of the one that has been idle longest. Nil while it is not.
  var idleUntil: Monotonic? {
    guard isOpen, backlog == 0, let session, session.isIdle else { return nil }
    return deadline?.due
  }

  /// Hands the connection to the session of the protocol that it turned out to speak.
  func hand(to session: any ServerSession) { self.session = session }

  /// Lets `body` append to the output, which is written at this turn's end.
  func write(_ body: (inout [UInt8]) -> Void) {
    guard isOpen else { return }
    body(&output)
    flushSoon()
  }

  func flushSoon() {
    if willFlush { return }
    willFlush = true
    EventLoop.shared.flushAtTurnsEnd(self)
  }

  /// Leaves what the peer sends in the kernel, so that it cannot send more than that.
  func pauseReading() {
    readingIsPaused = true
    updateInterest()
  }

  func resumeReading() {
    readingIsPaused = false
    updateInterest()
  }

  /// Closes once the output is written.
  func finish() {
    guard isOpen else { return }
    phase = .finishing
    deadline?.clear()
    flushSoon()
  }

  func answer(_ exchange: HttpExchange, _ response: HttpResponse?) {
    server.handlerEnded()
    session?.answer(exchange, response)
  }

  func drain() { if isOpen { session?.drain() } }

  /// Closes an idle connection, with a goodbye where the protocol has one and the peer takes it at once.
  func dismiss() {
    drain()
    flush()
    close()
  }

  /// Closes at once; what was not written is lost.
  func close() {
    if case .closed = phase { return }
    phase = .closed
    deadline?.end()
    writeDeadline?.end()
    EventLoop.shared.forget(descriptor)
    if backlog > 0 {
      // Whoever did not take it will not: the kernel need not keep it either.
      var now = linger(l_onoff: 1, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }
    Glibc.close(descriptor)
    output = []
    let session = session
    self.session = nil
    session?.ended()
    server.connectionEnded(self)
  }

  // MARK: Socket

  func ready(_ events: Interest) {
    if !events.isDisjoint(with: .failure), hasFailed { return close() }
    if isShakingHands { return shakeHands() }
    let readsOn = tlsWantsWrite
    if readsOn {
      tlsWantsWrite = false
      updateInterest()
    }
    if events.contains(.write) { flush() }
    if events.contains(.read) || readsOn { read() }
  }

  private func deadlinePassed() {
    if isOpen, let session { session.deadlinePassed() } else { close() }
  }

  /// Events may be those of a closed connection whose descriptor this one got: the kernel is asked again.
  private var hasFailed: Bool {
    var question = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&question, 1, 0) == 1 && question.revents & Int16(POLLERR | POLLHUP) != 0
  }

  private func shakeHands() {
    guard let tls = transport.tls else { return }
    switch tls.handshake() {
    case .done:
      isShakingHands = false
      tlsWantsWrite = false
      deadline?.set(milliseconds: server.limits.firstByte)
      updateInterest()
      read()
    case .wantsRead:
      tlsWantsWrite = false
      updateInterest()
    case .wantsWrite:
      tlsWantsWrite = true
      updateInterest()
    case .failed: close()
    }
  }

  private func read() {
    // A TLS record may hold more than one read takes, and then the descriptor stays silent.
    repeat {
      if case .closed = phase { return }
      if readingIsPaused || peerHasEnded { return }
      switch transport.read(into: Self.scratch) {
      case .wantsRead: return
      case .wantsWrite:
        tlsWantsWrite = true
        return updateInterest()
      case .failed: return close()
      case .closed: return readEnd()
      case .bytes(let count): take(count)
      }
    } while transport.pending
  }

  private func readEnd() {
    peerHasEnded = true
    updateInterest()
    if case .lingering = phase { return close() }
    if isOpen { session?.receivedEnd() }
  }

  private func take(_ count: Int) {
    switch phase {
    case .open:
      session?.receive(UnsafeRawBufferPointer(rebasing: Self.scratch[0..<count]).bindMemory(to: UInt8.self).span)
      noteIdleness()
    case .lingering(let discarded):
      phase = .lingering(discarded: discarded + count)
      if discarded + count > server.limits.discarded { close() }
    case .finishing, .closed: break
    }
  }

  func flush() {
    willFlush = false
    if case .closed = phase { return }
    if isShakingHands { return }
    if isOpen { session?.gather() }
    while written < output.count {
      let outcome = output.withUnsafeBytes {
        transport.write(UnsafeRawBufferPointer(rebasing: $0[written...]))
      }
      switch outcome {
      case .bytes(let count): written += count
      case .wantsRead, .wantsWrite:
        isBlocked = true
        if writeDeadline?.isSet == false { writeDeadline?.set(milliseconds: server.limits.write) }
        return updateInterest()
      case .closed, .failed: return close()
      }
    }
    empty()
  }

  /// The output has been written whole.
  private func empty() {
    if written > 0 {
      if output.capacity > 65_536 { output = [] } else { output.removeAll(keepingCapacity: true) }
      written = 0
      isBlocked = false
      writeDeadline?.clear()
      updateInterest()
      if isOpen { session?.written() }
      noteIdleness()
    }
    if case .finishing = phase { startLingering() }
  }

  private func noteIdleness() {
    if server.isFull, idleUntil != nil { server.hasIdleConnection() }
  }

  private func startLingering() {
    if peerHasEnded { return close() }
    phase = .lingering(discarded: 0)
    transport.endSending()
    writeDeadline?.end()
    deadline?.set(milliseconds: server.limits.linger)
    resumeReading()
  }

  private func updateInterest() {
    if case .closed = phase { return }
    var wanted: Interest = []
    if !readingIsPaused && !peerHasEnded { wanted.insert(.read) }
    if isBlocked || tlsWantsWrite { wanted.insert(.write) }
    if wanted != interest {
      interest = wanted
      EventLoop.shared.change(descriptor, wanted)
    }
  }
}
