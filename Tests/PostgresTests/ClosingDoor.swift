import Glibc
import Loop
import Support

/// A port of this machine where whoever comes is hung up on, and counted.
@LoopActor
final class ClosingDoor: Readiness {
  let port: UInt16
  let callers = Occurrences()
  private let descriptor: Int32

  init() {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    self.descriptor = descriptor
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(descriptor, $0, length)
        getsockname(descriptor, $0, &length)
      }
    }
    listen(descriptor, 16)
    port = UInt16(bigEndian: address.sin_port)
    EventLoop.shared.watch(descriptor, .read, self)
  }

  func ready(_ events: Interest) {
    while case let caller = accept(descriptor, nil, nil), caller >= 0 {
      Glibc.close(caller)
      callers.add()
    }
  }

  func close() {
    EventLoop.shared.forget(descriptor)
    Glibc.close(descriptor)
  }
}
