internal import CLinux
internal import Glibc

/// A TCP address to connect to.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
  /// The C socket address, as the system gave it.
  private let bytes: [UInt8]
  let family: Int32
  /// `127.0.0.1:443` or `[::1]:443`.
  package let description: String

  init?(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
    family = Int32(address.pointee.sa_family)
    bytes = Array(UnsafeRawBufferPointer(start: address, count: Int(length)))
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let flags = NI_NUMERICHOST | NI_NUMERICSERV
    guard
      getnameinfo(address, length, &host, socklen_t(host.count), &port, socklen_t(port.count), Int32(flags)) == 0
    else { return nil }
    let name = Self.text(host)
    let number = Self.text(port)
    description = family == AF_INET6 ? "[\(name)]:\(number)" : "\(name):\(number)"
  }

  private static func text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// An address given as text; nil when it is a name. Never blocks.
  package init?(address: String, port: UInt16) {
    guard let first = try? PeerAddress.lookUp(address, port, flags: AI_NUMERICHOST).first else { return nil }
    self = first
  }

  func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    // `sockaddr_storage` for its alignment.
    var storage = sockaddr_storage()
    return withUnsafeMutablePointer(to: &storage) { storage in
      UnsafeMutableRawBufferPointer(start: storage, count: MemoryLayout<sockaddr_storage>.size).copyBytes(from: bytes)
      return storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
    }
  }

  /// Asks the system for the TCP addresses of `host`. Blocks unless told that it is numeric.
  static func lookUp(_ host: String, _ port: UInt16, flags: Int32 = 0) throws(ConnectFailure) -> [PeerAddress] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICSERV | flags
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &list)
    defer { if let list { freeaddrinfo(list) } }
    guard status == 0 else {
      throw ConnectFailure(step: .dns, text: "\(host): \(String(cString: gai_strerror(status)))")
    }
    var addresses: [PeerAddress] = []
    var entry = list
    while let current = entry {
      if let address = current.pointee.ai_addr,
        let peer = PeerAddress(address, length: current.pointee.ai_addrlen), !addresses.contains(peer)
      {
        addresses.append(peer)
      }
      entry = current.pointee.ai_next
    }
    return addresses
  }
}
