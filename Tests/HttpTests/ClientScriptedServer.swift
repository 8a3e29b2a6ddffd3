import Glibc
import Loop

/// An HTTP/2 server without TLS that does only what a test tells it to: it reads and writes frames by hand, knows one
/// header block (`:status: 200`), and checks that no client opens more streams than it has allowed.
@LoopActor
final class ScriptedServer: Readiness {
  /// What a test answers to.
  enum Event {
    case opened
    /// A request has ended; its body as text.
    case request(stream: Int32, body: String)
  }

  let listener: BoundSocket
  private(set) var connections: [ScriptedConnection] = []
  /// The most streams that were open on one connection at once.
  var mostStreams = 0
  /// A client opened more streams than the settings it had acknowledged.
  var limitBroken = false
  fileprivate let script: @LoopActor (ScriptedConnection, Event) -> Void

  init(port: UInt16 = 0, _ script: @escaping @LoopActor (ScriptedConnection, Event) -> Void) {
    listener = BoundSocket(port: port, backlog: 64)
    self.script = script
    _ = fcntl(listener.descriptor, F_SETFL, O_NONBLOCK)
    EventLoop.shared.watch(listener.descriptor, .read, self)
  }

  nonisolated var port: UInt16 { listener.port }

  func ready(_ events: Interest) {
    while true {
      let descriptor = accept(listener.descriptor, nil, nil)
      guard descriptor >= 0 else { return }
      connections.append(ScriptedConnection(descriptor, number: connections.count, self))
    }
  }

  func stop() {
    EventLoop.shared.forget(listener.descriptor)
    for connection in connections { connection.close() }
  }
}

/// One connection of a scripted server.
@LoopActor
final class ScriptedConnection: Readiness {
  /// From 0, in the order of arrival.
  let number: Int
  private(set) var requests = 0
  private(set) var pings = 0
  private(set) var resets: [Int32] = []
  private(set) var isOpen = true
  /// Whether PINGs are answered.
  var answersPings = true
  private let descriptor: Int32
  private unowned let server: ScriptedServer
  private var input: [UInt8] = []
  private var preface = 24
  private var bodies: [Int32: [UInt8]] = [:]
  private var sentLimits: [Int] = []
  private var ackedLimit = Int.max

  init(_ descriptor: Int32, number: Int, _ server: ScriptedServer) {
    self.descriptor = descriptor
    self.number = number
    self.server = server
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    EventLoop.shared.watch(descriptor, .read, self)
    server.script(self, .opened)
  }

  var openStreams: Int { bodies.count }

  func settings(streams: Int) {
    sentLimits.append(streams)
    let value = UInt32(streams)
    frame(4, 0, 0, [0, 3] + Self.bytes(value))
  }

  /// `:status: 200` and the end of the stream, no body.
  func answer(_ stream: Int32) {
    bodies[stream] = nil
    frame(1, 0x05, stream, [0x88])
  }

  func reset(_ stream: Int32, _ code: UInt32) {
    bodies[stream] = nil
    frame(3, 0, stream, Self.bytes(code))
  }

  func goAway(last: Int32, code: UInt32 = 0, _ reason: String = "") {
    frame(7, 0, 0, Self.bytes(UInt32(last)) + Self.bytes(code) + Array(reason.utf8))
  }

  /// Writes anything at all.
  func say(_ text: String) { _ = send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

  func close() {
    guard isOpen else { return }
    isOpen = false
    EventLoop.shared.forget(descriptor)
    Glibc.close(descriptor)
  }

  /// Lets the client send as much as it likes at once.
  func openWindow() { frame(8, 0, 0, Self.bytes(0x7fff_ffff - 131_072)) }

  /// Reads nothing more, but keeps the connection.
  func goDeaf() { EventLoop.shared.change(descriptor, []) }

  /// Reads at once, without a turn of the loop; what was sent on this machine is here in a moment at the latest.
  func readWhatCame() {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&waited, 1, 10_000)
    ready(.read)
  }

  func ready(_ events: Interest) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while isOpen {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 { input += buffer[..<count] }
      if count == 0 || (count < 0 && errno != EAGAIN) { close() }
      if count <= 0 { break }
    }
    var at = 0
    if preface > 0, input.count >= 24 { (at, preface) = (24, 0) }
    while preface == 0, input.count - at >= 9 {
      let length = Int(input[at]) << 16 | Int(input[at + 1]) << 8 | Int(input[at + 2])
      guard input.count - at >= 9 + length else { break }
      let stream = input[(at + 5)..<(at + 9)].reduce(Int32(0)) { $0 << 8 | Int32($1) }
      received(input[at + 3], input[at + 4], stream, Array(input[(at + 9)..<(at + 9 + length)]))
      at += 9 + length
    }
    input.removeFirst(at)
  }

  private func received(_ type: UInt8, _ flags: UInt8, _ stream: Int32, _ payload: [UInt8]) {
    switch type {
    case 0:
      bodies[stream]?.append(contentsOf: payload)
      if flags & 1 != 0 { ended(stream) }
      // Both windows open again.
      if !payload.isEmpty { frame(8, 0, 0, Self.bytes(UInt32(payload.count))) }
    case 1:
      bodies[stream] = []
      server.mostStreams = max(server.mostStreams, bodies.count)
      if bodies.count > ackedLimit { server.limitBroken = true }
      if flags & 1 != 0 { ended(stream) }
    case 3:
      bodies[stream] = nil
      resets.append(stream)
    case 4:
      if flags & 1 == 0 { frame(4, 1, 0, []) } else if !sentLimits.isEmpty { ackedLimit = sentLimits.removeFirst() }
    case 6:
      guard flags & 1 == 0 else { return }
      pings += 1
      if answersPings { frame(6, 1, 0, payload) }
    default: break
    }
  }

  private func ended(_ stream: Int32) {
    requests += 1
    server.script(self, .request(stream: stream, body: String(decoding: bodies[stream] ?? [], as: UTF8.self)))
  }

  private func frame(_ type: UInt8, _ flags: UInt8, _ stream: Int32, _ payload: [UInt8]) {
    guard isOpen else { return }
    let head = Array(Self.bytes(UInt32(payload.count)).dropFirst()) + [type, flags] + Self.bytes(UInt32(stream))
    let bytes = head + payload
    // The kernel's buffer holds whatever a test makes us say.
    _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  private static func bytes(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }
}
