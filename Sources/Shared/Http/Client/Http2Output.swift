internal import Loop
internal import Tls

/// Frames that the socket has not taken yet, gathered so that many leave in one write.
@LoopActor
struct Http2Output {
  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: 3 * Http2ClientSession.largestFrame, alignment: 16)
  private var start = 0
  private var end = 0

  var isEmpty: Bool { start == end }

  func free() { buffer.deallocate() }

  /// Moves frames out of the session while the largest would fit; false when the session broke.
  mutating func fill(from session: Http2ClientSession) -> Bool {
    while buffer.count - end >= Http2ClientSession.largestFrame {
      guard let count = session.takeOutput(into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...])) else {
        return false
      }
      if count == 0 { break }
      end += count
    }
    return true
  }

  /// Writes a first part; there must be some.
  mutating func write(to transport: ClientTransport) -> TlsTransfer {
    let result = transport.write(UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
    if case .bytes(let count) = result {
      start += count
      if isEmpty { (start, end) = (0, 0) }
    }
    return result
  }
}
