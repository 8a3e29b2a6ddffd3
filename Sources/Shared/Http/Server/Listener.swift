internal import CLinux
internal import Glibc
internal import Loop

/// Why a server could not listen; `description` is one line for the operator.
package struct ListenFailure: Error, CustomStringConvertible, Sendable {
  package let description: String
}

/// A listening socket: takes connections in for as long as its server has or makes room.
@LoopActor
final class Listener: Readiness {
  private let descriptor: Int32
  private let makeRoom: @LoopActor () -> Bool
  private let accepted: @LoopActor (Int32, SocketAddress) -> Void
  /// The port that the kernel gave.
  let port: Int
  private var isOpen = true
  private var isPaused = false

  /// - Parameters:
  ///   - address: numeric, `localhost`, or `*` for all of IPv6 and IPv4.
  ///   - makeRoom: asked when there is a caller; false leaves it in the backlog until `resume`.
  init(
    address: String, port: Int, makeRoom: @escaping @LoopActor () -> Bool,
    accepted: @escaping @LoopActor (Int32, SocketAddress) -> Void
  ) throws(ListenFailure) {
    (descriptor, self.port) = try Self.open(address, port)
    self.makeRoom = makeRoom
    self.accepted = accepted
    EventLoop.shared.watch(descriptor, .read, self)
  }

  func ready(_ events: Interest) {
    while isOpen, !isPaused, hasCaller {
      guard makeRoom() else { return pause() }
      var peer = SocketAddress()
      let socket = peer.fill { lx_accept(descriptor, $0, $1) }
      if socket >= 0 {
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
        accepted(socket, peer)
        continue
      }
      switch errno {
      case EINTR, ECONNABORTED, EPROTO: continue
      case EMFILE, ENFILE, ENOBUFS, ENOMEM:
        // Level-triggered readiness would call again at once, and for nothing.
        pause()
        EventLoop.shared.after(milliseconds: 100) { self.resume() }
        return
      default: return
      }
    }
  }

  /// Asked before room is made: nothing is closed for a caller who does not exist.
  private var hasCaller: Bool {
    var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&question, 1, 0) == 1
  }

  /// Leaves connections in the backlog until `resume`.
  func pause() {
    guard isOpen, !isPaused else { return }
    isPaused = true
    EventLoop.shared.change(descriptor, [])
  }

  func resume() {
    guard isOpen, isPaused else { return }
    isPaused = false
    EventLoop.shared.change(descriptor, .read)
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    EventLoop.shared.forget(descriptor)
    Glibc.close(descriptor)
  }

  private static func open(_ address: String, _ port: Int) throws(ListenFailure) -> (Int32, Int) {
    guard (0...65_535).contains(port) else { throw ListenFailure(description: "\(port) is not a port") }
    if address == "*" {
      do { return try bind("::", port, "*") } catch let failure {
        // A machine without IPv6.
        guard failure.isFamilyMissing else { throw ListenFailure(description: failure.line) }
      }
    }
    let numeric = address == "*" ? "0.0.0.0" : address == "localhost" ? "127.0.0.1" : address
    do { return try bind(numeric, port, address) } catch let failure { throw ListenFailure(description: failure.line) }
  }

  private struct BindFailure: Error {
    var line: String
    var isFamilyMissing = false
  }

  private static func bind(_ numeric: String, _ port: Int, _ shown: String) throws(BindFailure) -> (Int32, Int) {
    guard var address = SocketAddress(numeric: numeric, port: port) else {
      throw BindFailure(line: "\(shown) is not an address to listen on")
    }
    let socket = lx_socket(address.family)
    guard socket >= 0 else { throw failure(errno, port, shown) }
    var on: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, 4)
    if address.family == AF_INET6 {
      var only: Int32 = numeric == "::" ? 0 : 1
      setsockopt(socket, Int32(IPPROTO_IPV6), Int32(IPV6_V6ONLY), &only, 4)
    }
    guard address.withPointer({ Glibc.bind(socket, $0, $1) }) == 0, Glibc.listen(socket, 1_024) == 0 else {
      let reason = errno
      Glibc.close(socket)
      throw failure(reason, port, shown)
    }
    _ = address.fill { getsockname(socket, $0, $1) }
    return (socket, address.port)
  }

  private static func failure(_ reason: Int32, _ port: Int, _ shown: String) -> BindFailure {
    switch reason {
    case EADDRINUSE: BindFailure(line: "port \(port) is taken (address \(shown))")
    case EACCES: BindFailure(line: "port \(port) needs more rights (address \(shown))")
    case EADDRNOTAVAIL, EAFNOSUPPORT:
      BindFailure(line: "address \(shown) is not one of this machine's (port \(port))", isFamilyMissing: true)
    default: BindFailure(line: "cannot listen on \(shown) port \(port): \(String(cString: strerror(reason)))")
    }
  }
}
