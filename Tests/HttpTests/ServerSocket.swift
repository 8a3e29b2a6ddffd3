import CLinux
import Glibc
import Loop

/// A client that sends the very bytes it is told to, over a blocking socket on a thread of its own.
///
/// Whatever it waits for comes within a minute, or counts as an end.
actor ServerSocket {
  struct Reply {
    var status = 0
    /// Field lines in lower case, as sent.
    var fields: [String] = []
    var body = ""

    func field(_ name: String) -> String? {
      fields.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.utf8.count + 2)) }
    }
  }

  private let thread = BlockingThread(name: "client")
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
  private let descriptor: Int32
  private var received: [UInt8] = []

  /// Connects to a port of this machine. `receiveBuffer`: bytes that the kernel takes in for a client that does not read.
  init(port: Int, receiveBuffer: Int32? = nil) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    // C structures as plain integers: which module owns their Swift types depends on what else was imported.
    if let receiveBuffer { set(SO_RCVBUF, [receiveBuffer]) }
    set(SO_RCVTIMEO, [60, 0] as [Int])
    set(SO_SNDTIMEO, [60, 0] as [Int])
    let bigEndianPort = UInt16(port).bigEndian
    connect([UInt16(AF_INET), bigEndianPort, UInt16(0x7f).littleEndian, UInt16(0x01).bigEndian, 0, 0, 0, 0])
  }

  private nonisolated func set<Value>(_ option: Int32, _ value: [Value]) {
    _ = value.withUnsafeBytes { setsockopt(descriptor, SOL_SOCKET, option, $0.baseAddress, socklen_t($0.count)) }
  }

  private nonisolated func connect(_ address: [UInt16]) {
    _ = address.withUnsafeBytes {
      Glibc.connect(descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
    }
  }

  /// The same connection on another thread, for reading while sending is stuck.
  init(twinOf other: ServerSocket) { descriptor = dup(other.descriptor) }

  deinit { close(descriptor) }

  /// False when the peer no longer takes it.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }

  /// Sends from whatever thread calls, while that thread does nothing else.
  nonisolated func sendAtOnce(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Sends `text` again and again until the peer closes.
  func drip(_ text: String) {
    while send(text) {
      // At that pace, unless something comes back.
      var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      poll(&waited, 1, 5)
      if receive(Int32(MSG_DONTWAIT)) == 0 { return }
    }
  }

  /// Ends the sending half.
  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Closes with a reset.
  func reset() {
    set(SO_LINGER, [1, 0] as [Int32])
    // An address of no family takes the connection down; the descriptor itself goes with its owner.
    connect([0, 0, 0, 0, 0, 0, 0, 0])
  }

  /// Everything up to the end of the connection.
  func readToEnd() -> [UInt8] {
    while receive(0) > 0 {}
    defer { received = [] }
    return received
  }

  /// Bytes until there are `count`, or the end.
  func read(count: Int) -> [UInt8] {
    while received.count < count, receive(0) > 0 {}
    defer { received.removeFirst(min(count, received.count)) }
    return Array(received.prefix(count))
  }

  /// The next reply of HTTP/1.1; nil when the connection ends before it is whole.
  func reply(toHead: Bool = false) -> Reply? {
    var end = endOfHead()
    while end == nil, receive(0) > 0 { end = endOfHead() }
    guard let end else { return nil }
    let lines = String(decoding: received[..<end], as: UTF8.self).split(separator: "\r\n").map(String.init)
    received.removeFirst(end)
    var reply = Reply()
    reply.status = Int(lines[0].split(separator: " ")[1]) ?? 0
    reply.fields = Array(lines.dropFirst())
    if toHead || reply.status < 200 { return reply }
    let length = reply.field("content-length").flatMap { Int($0) } ?? 0
    let body = read(count: length)
    reply.body = String(decoding: body, as: UTF8.self)
    return body.count == length ? reply : nil
  }

  private func endOfHead() -> Int? {
    guard received.count >= 4 else { return nil }
    for i in 3..<received.count where received[(i - 3)...i].elementsEqual([13, 10, 13, 10]) { return i + 1 }
    return nil
  }

  /// Bytes taken in; 0 at the end or when the connection has failed; negative when nothing has come.
  private func receive(_ flags: Int32) -> Int {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &chunk, chunk.count, flags)
    if count > 0 { received.append(contentsOf: chunk[0..<count]) }
    if count < 0, errno != EAGAIN { return 0 }
    return count
  }
}
