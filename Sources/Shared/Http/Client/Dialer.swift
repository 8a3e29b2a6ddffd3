internal import CLinux
internal import Glibc
internal import Loop

/// Connects to the first of several addresses that answers (Happy Eyeballs, RFC 8305): the next address is tried when
/// the one before has failed or has kept silent for a while, so a dead IPv6 route costs 250 ms and no push.
@LoopActor
final class Dialer {
  /// A TCP connection, non-blocking, without Nagle's delay.
  struct Line: Sendable {
    let descriptor: Int32
    let address: PeerAddress
  }

  private var remaining: ArraySlice<PeerAddress>
  private var attempts: [Attempt] = []
  private var faults: [String] = []
  private var nextStart: Timer?
  private let headStart: Int
  private let outcome = OneShot<Result<Line, ConnectFailure>>()

  private init(_ addresses: [PeerAddress], headStart: Int) {
    remaining = addresses[...]
    self.headStart = headStart
  }

  /// - Parameter headStart: how long one address is waited for before the next is tried as well, in ms.
  static func connect(
    _ addresses: [PeerAddress], before deadline: Monotonic, headStart: Int = 250
  ) async throws(ConnectFailure) -> Line {
    let dialer = Dialer(addresses, headStart: headStart)
    dialer.startNext()
    let result = await dialer.outcome.value(before: deadline)
    let pending = dialer.attempts.map(\.address.description)
    dialer.stop()
    if let result { return try result.get() }
    let silent = dialer.faults + pending.map { "\($0) does not answer" }
    throw ConnectFailure(step: .timeout, text: silent.joined(separator: ", "))
  }

  private func startNext() {
    EventLoop.shared.cancel(nextStart)
    guard let address = remaining.popFirst() else {
      if attempts.isEmpty {
        let text = faults.isEmpty ? "the name has no addresses" : faults.joined(separator: ", ")
        outcome.fulfil(.failure(ConnectFailure(step: .tcp, text: text)))
      }
      return
    }
    let attempt = Attempt(address, self)
    attempts.append(attempt)
    if !remaining.isEmpty {
      nextStart = EventLoop.shared.after(milliseconds: headStart) { [weak self] in self?.startNext() }
    }
    attempt.start()
  }

  fileprivate func connected(_ attempt: Attempt) {
    attempts.removeAll { $0 === attempt }
    outcome.fulfil(.success(Line(descriptor: attempt.release(), address: attempt.address)))
    stop()
  }

  fileprivate func failed(_ attempt: Attempt, _ number: Int32) {
    attempts.removeAll { $0 === attempt }
    attempt.abandon()
    if faults.count < 4 { faults.append("\(attempt.address) \(String(cString: strerror(number)))") }
    startNext()
  }

  private func stop() {
    EventLoop.shared.cancel(nextStart)
    remaining = []
    for attempt in attempts { attempt.abandon() }
    attempts = []
  }
}

/// One address being connected to.
@LoopActor
private final class Attempt: Readiness {
  let address: PeerAddress
  private weak var dialer: Dialer?
  private var descriptor: Int32 = -1

  init(_ address: PeerAddress, _ dialer: Dialer) {
    self.address = address
    self.dialer = dialer
  }

  func start() {
    descriptor = lx_socket(address.family)
    guard descriptor >= 0 else { return report(errno) }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    let status = address.withSockaddr { Glibc.connect(descriptor, $0, $1) }
    guard status == 0 || errno == EINPROGRESS else { return report(errno) }
    EventLoop.shared.watch(descriptor, .write, self)
  }

  func ready(_ events: Interest) {
    var number: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &length)
    number == 0 ? dialer?.connected(self) : report(number)
  }

  private func report(_ number: Int32) { dialer?.failed(self, number) }

  /// Gives the descriptor away.
  func release() -> Int32 {
    EventLoop.shared.forget(descriptor)
    defer { descriptor = -1 }
    return descriptor
  }

  func abandon() {
    guard descriptor >= 0 else { return }
    Glibc.close(release())
  }
}
