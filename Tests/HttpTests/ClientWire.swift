import CLinux
import Glibc
import Loop

/// A line between a client and a server on this machine that a test makes slow, or dead without a word.
@LoopActor
final class FaultyWire: Readiness {
  private let listener = BoundSocket(backlog: 64)
  private let server: UInt16
  /// For each direction, in ms.
  var delay = 0
  fileprivate(set) var open = 0
  /// The most connections that were open at once.
  private(set) var mostOpen = 0
  private(set) var connects = 0
  private var ends: [WireEnd] = []

  init(to server: UInt16) {
    self.server = server
    _ = fcntl(listener.descriptor, F_SETFL, O_NONBLOCK)
    EventLoop.shared.watch(listener.descriptor, .read, self)
  }

  var port: UInt16 { listener.port }

  /// From now on nothing passes on the connections that there are; new ones are sound.
  func swallow() {
    for end in ends { end.swallows = true }
  }

  func ready(_ events: Interest) {
    while true {
      let client = accept(listener.descriptor, nil, nil)
      guard client >= 0 else { return }
      connects += 1
      open += 1
      mostOpen = max(mostOpen, open)
      let near = WireEnd(client, self)
      let far = WireEnd(Self.connected(to: server), self)
      (near.other, far.other) = (far, near)
      ends += [near, far]
    }
  }

  func stop() {
    EventLoop.shared.forget(listener.descriptor)
    for end in ends { end.close() }
    ends = []
  }

  /// On loopback a connect to a listener is done at once.
  private static func connected(to port: UInt16) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    address.sin_port = port.bigEndian
    withUnsafePointer(to: &address) {
      _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return descriptor
  }
}

/// One socket of a connection's two.
@LoopActor
private final class WireEnd: Readiness {
  private let descriptor: Int32
  private unowned let wire: FaultyWire
  weak var other: WireEnd?
  var swallows = false
  private var isOpen = true
  private var output: ArraySlice<UInt8> = []
  private var retry: Timer?

  init(_ descriptor: Int32, _ wire: FaultyWire) {
    self.descriptor = descriptor
    self.wire = wire
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
    EventLoop.shared.watch(descriptor, .read, self)
  }

  func ready(_ events: Interest) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while isOpen {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 && errno == EAGAIN { return }
      let isEnd = count <= 0
      let bytes = isEnd ? [] : Array(buffer[..<count])
      if !swallows {
        EventLoop.shared.after(milliseconds: wire.delay) { [other] in isEnd ? other?.close() : other?.write(bytes) }
      }
      if isEnd {
        wire.open -= other?.isOpen == true ? 1 : 0
        return close()
      }
    }
  }

  func write(_ bytes: [UInt8]) {
    output += bytes
    flush()
  }

  private func flush() {
    guard isOpen, retry == nil else { return }
    while !output.isEmpty {
      let count = output.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count <= 0 { break }
      output.removeFirst(count)
    }
    guard !output.isEmpty else { return }
    // The reader is behind.
    retry = EventLoop.shared.after(milliseconds: 1) { [weak self] in
      self?.retry = nil
      self?.flush()
    }
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    EventLoop.shared.forget(descriptor)
    Glibc.close(descriptor)
  }
}
