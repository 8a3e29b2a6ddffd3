/// A server's GOAWAY.
package struct Http2GoAway: Equatable, Sendable {
  /// Streams above it were not looked at.
  package let lastStream: Int32
  /// The HTTP/2 error code; 0 for a graceful end.
  package let code: UInt32
  /// The server's own words, at most 256 bytes, made printable. APNs sends JSON with a `reason`.
  package let reason: String

  /// What the server gives as its reason: its own words, or the code where it says nothing.
  var words: String { reason.isEmpty ? "HTTP/2 error \(code)" : reason }

  init(lastStream: Int32, code: UInt32, reason: UnsafeBufferPointer<UInt8>) {
    self.lastStream = lastStream
    self.code = code
    let printable = reason.prefix(256).map { $0 >= 0x20 && $0 < 0x7f ? $0 : UInt8(ascii: "?") }
    self.reason = String(decoding: printable, as: UTF8.self)
  }
}
