/// Where a server is reached: scheme, host and port, and nothing else (RFC 6454).
///
/// Its text is the one that a browser's `URL.origin` gives, so that two sides that were given the same address in
/// different spellings compare equal: lower case, no default port, no trailing slash.
package struct Origin: Hashable, Sendable {
  package enum Scheme: String, Sendable { case http, https }

  package let scheme: Scheme
  /// A name or an address in lower-case ASCII; an IPv6 address without its brackets.
  package let host: String
  /// 1 to 65535, the scheme's own port when none was written.
  package let port: Int

  /// An origin whose parts are known to keep the rules above.
  package init(scheme: Scheme, host: String, port: Int) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }

  /// Reads `scheme://host` or `scheme://host:port`; says which rule is broken, without repeating the text.
  package init(_ text: String) throws(OriginFault) {
    let parts = try Self.split(text)
    scheme = parts.scheme
    host = try Self.host(parts.host, inBrackets: parts.inBrackets)
    guard let port = try Self.port(parts.port) else {
      port = parts.scheme.port
      return
    }
    self.port = port
  }

  /// Host and port as the `Host` and `:authority` fields write them: the port only where it is not the scheme's own.
  package var authority: String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return port == scheme.port ? name : "\(name):\(port)"
  }

  /// `scheme://host` or `scheme://host:port`.
  package var text: String { "\(scheme.rawValue)://\(authority)" }

  /// Whether what is sent there stays on this machine.
  package var isLoopback: Bool {
    host == "localhost" || host == "::1" || (host.hasPrefix("127.") && Self.isIpv4(host.utf8))
  }

  /// Whether what is sent there cannot be read on the way: https, or http that stays on this machine.
  package var isPrivate: Bool { scheme == .https || isLoopback }
}

extension Origin: CustomStringConvertible {
  package var description: String { text }
}

extension Origin.Scheme {
  /// The port that the scheme stands for.
  package var port: Int { self == .https ? 443 : 80 }
}

/// Why a text is no ``Origin``. Made to follow the name of what was read.
package enum OriginFault: String, Error, CustomStringConvertible, Sendable {
  case scheme = "must begin with https:// (or http://)"
  case userinfo = "must not hold a user name or password"
  case trailingSlash = "must be an origin: remove the slash at its end"
  case path = "must be an origin: remove everything after host and port"
  case host = "must name a host (ASCII letters, digits, dots and hyphens; a plain IPv4 or a bracketed IPv6 address)"
  case port = "must have a port from 1 to 65535, or none"

  package var description: String { rawValue }
}

extension Origin {
  private struct Parts {
    var scheme: Scheme
    var host: Substring.UTF8View
    var inBrackets: Bool
    /// Nil when there is no colon.
    var port: Substring.UTF8View?
  }

  private static func split(_ text: String) throws(OriginFault) -> Parts {
    let bytes = text.utf8
    guard let end = bytes.firstIndex(of: UInt8(ascii: ":")),
      let scheme = Scheme(rawValue: String(decoding: bytes[..<end].map(lowered), as: UTF8.self)),
      bytes[end...].starts(with: "://".utf8)
    else { throw .scheme }
    let rest = bytes[end...].dropFirst(3)
    if rest.contains(UInt8(ascii: "@")) { throw .userinfo }
    if let stop = rest.firstIndex(where: { "/?#\\".utf8.contains($0) }) {
      throw rest[stop...].elementsEqual("/".utf8) ? .trailingSlash : .path
    }
    if rest.first == UInt8(ascii: "[") {
      guard let close = rest.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
      let after = rest[close...].dropFirst()
      guard after.isEmpty || after.first == UInt8(ascii: ":") else { throw .host }
      let port = after.isEmpty ? nil : after.dropFirst()
      return Parts(scheme: scheme, host: rest.dropFirst().prefix(upTo: close), inBrackets: true, port: port)
    }
    guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else {
      return Parts(scheme: scheme, host: rest, inBrackets: false, port: nil)
    }
    return Parts(scheme: scheme, host: rest[..<colon], inBrackets: false, port: rest[colon...].dropFirst())
  }

  private static func port(_ digits: Substring.UTF8View?) throws(OriginFault) -> Int? {
    guard let digits else { return nil }
    guard (1...5).contains(digits.count), digits.allSatisfy(isDigit),
      let port = Int(String(decoding: digits, as: UTF8.self)), (1...65535).contains(port)
    else { throw .port }
    return port
  }

  private static func host(_ bytes: Substring.UTF8View, inBrackets: Bool) throws(OriginFault) -> String {
    let host = bytes.map(lowered)
    guard (1...253).contains(host.count), inBrackets ? isIpv6(host) : isName(host) else { throw .host }
    return String(decoding: host, as: UTF8.self)
  }

  /// Letters alone decide: whether such an address exists is for the resolver to say.
  private static func isIpv6(_ host: [UInt8]) -> Bool {
    host.filter { $0 == UInt8(ascii: ":") }.count >= 2
      && host.allSatisfy {
        isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) || ":.".utf8.contains($0)
      }
  }

  private static func isName(_ host: [UInt8]) -> Bool {
    let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // A name whose last label is a number is read as an IPv4 address everywhere, in more spellings than one.
    if labels.last?.first.map(isDigit) == true { return isIpv4(host) }
    return labels.allSatisfy { label in
      (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
        && label.allSatisfy {
          isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || "-_".utf8.contains($0)
        }
    }
  }

  private static func isIpv4(_ host: some Collection<UInt8>) -> Bool {
    let numbers = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return numbers.count == 4
      && numbers.allSatisfy { digits in
        (1...3).contains(digits.count) && digits.allSatisfy(isDigit)
          && (digits.count == 1 || digits.first != UInt8(ascii: "0"))
          && digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } <= 255
      }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
  }
}
