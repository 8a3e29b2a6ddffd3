internal import Loop

/// A connection before its first bytes say whether it speaks HTTP/1 or, by prior knowledge, HTTP/2 (RFC 9113 3.3).
@LoopActor
final class UndecidedSession: ServerSession {
  unowned let connection: ServerConnection
  /// It has yet to say what it came for, and has less time for that.
  let isIdle = false
  private var held: [UInt8] = []

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  init(_ connection: ServerConnection) { self.connection = connection }

  func receive(_ bytes: Span<UInt8>) {
    if held.isEmpty { connection.deadline?.set(milliseconds: connection.server.limits.head) }
    var matched = held.count
    var at = 0
    while matched < Self.preface.count, at < bytes.count, bytes[at] == Self.preface[matched] {
      matched += 1
      at += 1
    }
    if matched < Self.preface.count, at == bytes.count {
      bytes.withUnsafeBufferPointer { held.append(contentsOf: $0) }
      return
    }
    let session: any ServerSession =
      matched == Self.preface.count ? Http2ServerSession(connection) : Http1Session(connection, hasBegun: !held.isEmpty)
    connection.hand(to: session)
    let begun = held
    if !begun.isEmpty { session.receive(begun.span) }
    // The part held cannot have been refused or whole: it is the beginning of a request line.
    session.receive(bytes)
  }

  func receivedEnd() { connection.close() }
  func gather() {}
  func written() {}
  func answer(_ exchange: HttpExchange, _ response: HttpResponse?) {}
  func drain() { connection.finish() }
  func ended() {}
}
