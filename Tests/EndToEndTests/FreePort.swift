import Foundation
import Glibc

/// A port for a server that must know it beforehand.
enum FreePort {
  /// Below the range that outgoing connections take theirs from, so that nobody takes it by accident meanwhile.
  static func find() throws -> Int {
    for _ in 0..<1_000 {
      let port = Int.random(in: 10_000..<30_000)
      let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(probe) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      let isFree = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      if isFree { return port }
    }
    throw POSIXError(.EADDRINUSE)
  }
}
