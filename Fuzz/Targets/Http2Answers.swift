import Glibc
import Loop

@testable import Http

/// An HTTP/2 server that says anything at all, connection after connection: every request has an outcome, answers are
/// bounded, and what a server has seen is not sent again unless a server has said that it did not look.
enum Http2Answers: Target {
  static func run(_ bytes: [UInt8]) {
    onTheLoop {
      var input = Input(bytes)
      let shape = input.byte()
      let provider = FuzzedProvider(greets: shape & 0x80 == 0, FrameStep.steps(from: &input))
      let pool = provider.pool()
      let sizes = [1, 1, 2_000, 40_000]
      let sends = (0...(shape & 3)).map { number in
        EventLoop.shared.start { await send(number, size: sizes[Int(shape >> 2 & 3)], to: pool) }
      }
      for send in sends { await send.value }
      pool.close()
      await turn()
      require(pool.inFlight == 0 && pool.waiting == 0 && pool.connectionCount == 0, "the pool is not empty")
      provider.stop()
    }
  }

  @LoopActor
  private static func send(_ number: UInt8, size: Int, to pool: Http2Pool) async {
    let origin = Origin(host: "provider", port: 1, secure: false)
    let body = [UInt8](repeating: number, count: size)
    let request = Http2ClientRequest(
      head: HeaderBlock(method: "POST", origin: origin, path: "/3/device"), body: body, deadline: 60_000)
    do throws(Http2Failure) {
      let response = try await pool.send(request)
      require((1...999).contains(response.status), "the status is \(response.status)")
      require(response.body.count <= Http2ClientResponse.bodyLimit, "a body of \(response.body.count)")
      let head = response.headers.bytes.count
      require(head <= Http2ClientResponse.headerLimit, "a head of \(head)")
    } catch {
      if case .timedOut = error { require(false, "a request hangs") }
      if case .goneAway(let words) = error {
        require((1...256).contains(words.utf8.count) && words.utf8.allSatisfy { (0x20...0x7e).contains($0) }, words)
      }
    }
  }
}

/// Carries its steps out on one connection after another, and at their end takes none.
@LoopActor
private final class FuzzedProvider: Readiness {
  private var steps: ArraySlice<FrameStep>
  private let greets: Bool
  private let listener: Int32
  private let address: sockaddr_un
  private var isListening = true
  private var ends: [RawEnd] = []
  /// First bytes of the bodies that connections saw which never said that they had not looked.
  private var seen: [Set<UInt8>] = []
  private var refused: [Bool] = []

  private static var count = 0
  private static let length = socklen_t(MemoryLayout<sa_family_t>.size + 24)

  init(greets: Bool, _ steps: [FrameStep]) {
    self.steps = steps[...]
    self.greets = greets
    // An abstract name, which is gone with the socket; TCP would leave a port behind for a minute.
    Self.count += 1
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = "push-fuzz-\(getpid())-\(Self.count)"
    withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: Array(name.utf8).prefix(23)) }
    self.address = address
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, Self.length) }
    }
    require(bound == 0 && listen(listener, 64) == 0, "no socket")
    EventLoop.shared.watch(listener, .read, self)
  }

  /// Connections to this provider, without pauses between them.
  func pool() -> Http2Pool {
    var limits = Http2PoolLimits()
    limits.connections = 1
    limits.firstPause = 0
    limits.longestPause = 0
    limits.connectBurst = 1_000
    limits.connectInterval = 1
    let peer = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { PeerAddress($0, length: Self.length) }
    }
    let resolver = NameResolver { _, _ in .success(peer.map { [$0] } ?? []) }
    let origin = Origin(host: "provider", port: 1, secure: false)
    return Http2Pool(origin: origin, tls: nil, limits: limits, resolver: resolver) { event in
      guard case .goneAway(let notice) = event else { return }
      require(notice.reason.utf8.count <= 256, "\(notice.reason.utf8.count) bytes")
      require(notice.reason.utf8.allSatisfy { (0x20...0x7e).contains($0) }, notice.reason.debugDescription)
    }
  }

  func stop() {
    stopListening()
    for end in ends { end.close() }
    for (index, bodies) in seen.enumerated() where !refused[index] {
      for later in seen[(index + 1)...] { require(bodies.isDisjoint(with: later), "what was seen is sent again") }
    }
  }

  func ready(_ events: Interest) {
    while isListening {
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { return }
      let number = ends.count
      var frames = ClientFrames()
      let end = RawEnd(descriptor) { [weak self] bytes in
        let bodies = frames.bodies(in: bytes)
        self?.seen[number].formUnion(bodies)
      }
      ends.append(end)
      seen.append([])
      refused.append(false)
      EventLoop.shared.start { await self.play(end, number) }
    }
  }

  private func play(_ end: RawEnd, _ number: Int) async {
    if greets, !steps.isEmpty {
      end.write(FrameStep.frame(4, 0, 0, [0, 3, 0, 0, 0, 100]))
      await turn(2)
    }
    playing: while end.isOpen, let step = steps.popFirst() {
      switch step {
      case .bytes(let bytes):
        if FrameStep.mayRefuse(bytes) { refused[number] = true }
        end.write(bytes)
      case .pause: await turn(2)
      case .close: break playing
      }
    }
    if steps.isEmpty { stopListening() }
    end.finishSending()
  }

  /// Takes no more connections: what is sent again finds nobody.
  private func stopListening() {
    guard isListening else { return }
    isListening = false
    EventLoop.shared.forget(listener)
    close(listener)
  }
}

/// Reads what a client sends just so far as to tell whose bodies have come.
private struct ClientFrames {
  private var rest: [UInt8] = []
  private var preface = 24

  /// The first bytes of the DATA frames that end in `bytes`.
  mutating func bodies(in bytes: [UInt8]) -> [UInt8] {
    rest += bytes
    guard rest.count >= preface else { return [] }
    rest.removeFirst(preface)
    preface = 0
    var found: [UInt8] = []
    while rest.count >= 9 {
      let count = Int(rest[0]) << 16 | Int(rest[1]) << 8 | Int(rest[2])
      guard rest.count >= 9 + count else { break }
      if rest[3] == 0, count > 0 { found.append(rest[9]) }
      rest.removeFirst(9 + count)
    }
    return found
  }
}
