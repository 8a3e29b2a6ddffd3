internal import CLinux
internal import Glibc

/// An IPv4 or IPv6 address with a port, as the kernel keeps it.
struct SocketAddress {
  private var storage = sockaddr_storage()
  private(set) var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

  init() {}

  /// From a numeric address; nil when it is none.
  init?(numeric text: String, port: Int) {
    guard let port = UInt16(exactly: port) else { return nil }
    var v4 = in_addr()
    var v6 = in6_addr()
    if inet_pton(AF_INET, text, &v4) == 1 {
      let address = sockaddr_in(
        sin_family: UInt16(AF_INET), sin_port: port.bigEndian, sin_addr: v4, sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
      set(address)
    } else if inet_pton(AF_INET6, text, &v6) == 1 {
      set(
        sockaddr_in6(
          sin6_family: UInt16(AF_INET6), sin6_port: port.bigEndian, sin6_flowinfo: 0, sin6_addr: v6, sin6_scope_id: 0))
    } else {
      return nil
    }
  }

  private mutating func set<Address>(_ address: Address) {
    length = socklen_t(MemoryLayout<Address>.size)
    withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: Address.self) }
  }

  var family: Int32 { Int32(storage.ss_family) }

  var port: Int {
    withUnsafeBytes(of: storage) { Int(UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))) }
  }

  /// The address without its port; an IPv4 address that came in by an IPv6 socket as IPv4.
  var text: String {
    withUnsafeBytes(of: storage) { bytes in
      if family == AF_INET { return Self.text(AF_INET, bytes.baseAddress! + 4) }
      guard family == AF_INET6 else { return "" }
      let address = UnsafeRawBufferPointer(rebasing: bytes[8..<24])
      let mapped = address[0..<10].allSatisfy { $0 == 0 } && address[10] == 255 && address[11] == 255
      return mapped
        ? Self.text(AF_INET, address.baseAddress! + 12) : Self.text(AF_INET6, address.baseAddress!)
    }
  }

  private static func text(_ family: Int32, _ address: UnsafeRawPointer) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
      guard inet_ntop(family, address, buffer.baseAddress!, socklen_t(buffer.count)) != nil else { return "" }
      return String(cString: buffer.baseAddress!)
    }
  }

  func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    withUnsafeBytes(of: storage) { body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), length) }
  }

  /// For calls that fill an address in.
  mutating func fill<R>(_ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> R) -> R {
    length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &storage) { bytes in
      body(bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
    }
  }
}
