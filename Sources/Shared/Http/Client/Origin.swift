/// Where a service answers: host, port, and whether it speaks TLS.
package struct Origin: Hashable, Sendable, CustomStringConvertible {
  /// A DNS name or an IP address, IPv6 without brackets.
  package let host: String
  package let port: UInt16
  /// Whether the service is reached over TLS.
  package let secure: Bool

  package init(host: String, port: UInt16, secure: Bool = true) {
    self.host = host
    self.port = port
    self.secure = secure
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    authority = port == (secure ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// `host`, `host:port` or `[v6]:port`.
  init?(authority: ArraySlice<UInt8>, secure: Bool) {
    var host = authority
    var port = secure ? UInt16(443) : 80
    if authority.first == UInt8(ascii: "[") {
      guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      host = authority[(authority.startIndex + 1)..<bracket]
      let tail = authority[(bracket + 1)...]
      if !tail.isEmpty {
        guard tail.first == UInt8(ascii: ":"), let number = Self.port(tail.dropFirst()) else { return nil }
        port = number
      }
      guard host.contains(UInt8(ascii: ":")) else { return nil }
    } else if let colon = authority.firstIndex(of: UInt8(ascii: ":")) {
      host = authority[..<colon]
      guard let number = Self.port(authority[(colon + 1)...]) else { return nil }
      port = number
    }
    guard !host.isEmpty, !host.contains(where: { "@[]\\".utf8.contains($0) }) else { return nil }
    self.init(host: String(decoding: host, as: UTF8.self), port: port, secure: secure)
  }

  private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
    guard digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    return UInt16(String(decoding: digits, as: UTF8.self)).flatMap { $0 == 0 ? nil : $0 }
  }

  /// For `:authority` and `Host`: the port only where it is not the scheme's own.
  package let authority: String

  package var scheme: String { secure ? "https" : "http" }

  package var description: String { "\(scheme)://\(authority)" }
}
