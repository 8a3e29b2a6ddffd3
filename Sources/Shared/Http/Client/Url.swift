/// An absolute `http` or `https` URL, taken apart.
package struct Url: Hashable, Sendable, CustomStringConvertible {
  package let origin: Origin
  /// Path and query as they go on the request line; at least `/`. Escapes are left alone.
  package let target: String

  /// Nil for other schemes, user names, fragments, a missing host, a bad port, or any byte outside printable ASCII.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }) else { return nil }
    let secure: Bool
    var rest = bytes[...]
    let lead = String(decoding: bytes.prefix(8), as: UTF8.self).lowercased()
    if lead == "https://" {
      secure = true
      rest = rest.dropFirst(8)
    } else if lead.hasPrefix("http://") {
      secure = false
      rest = rest.dropFirst(7)
    } else {
      return nil
    }
    let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
    guard let origin = Origin(authority: rest[..<end], secure: secure) else { return nil }
    self.origin = origin
    let tail = String(decoding: rest[end...], as: UTF8.self)
    target = tail.hasPrefix("/") ? tail : "/" + tail
  }

  package var description: String { "\(origin)\(target)" }
}
