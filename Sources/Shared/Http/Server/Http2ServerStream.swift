internal import Loop

/// One request of an HTTP/2 connection, while it comes in and while it is answered.
@LoopActor
final class Http2ServerStream {
  enum Phase {
    case receiving
    /// A handler has it, or had.
    case handed
  }

  let id: Int32
  var phase = Phase.receiving
  var exchange: HttpExchange?
  /// For the part of the request that is to come.
  var deadline: Deadline?
  /// Over the bounds of a head: answered 431 when it is whole.
  private(set) var isHeadTooLarge = false
  private var isHeadWhole = false
  private(set) var request = HttpRequest(method: "", path: "", version: 2)
  private var authority: String?
  private var headBytes = 0
  private let limits: RequestParser.Limits

  private var reply: [UInt8] = []
  private var sent = 0

  init(id: Int32, peer: String, limits: RequestParser.Limits) {
    self.id = id
    self.limits = limits
    request.peer = peer
  }

  /// A field of the head; trailers are dropped.
  func received(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    if isHeadWhole || isHeadTooLarge { return }
    // As HPACK counts an entry (RFC 7541 4.1).
    headBytes += name.count + value.count + 32
    if headBytes > limits.head || request.headers.fields.count >= limits.fields {
      isHeadTooLarge = true
      return
    }
    let text = String(decoding: value, as: UTF8.self)
    switch String(decoding: name, as: UTF8.self) {
    case ":method": request.method = text
    case ":path":
      let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      request.path = String(parts[0])
      request.query = parts.count > 1 ? String(parts[1]) : nil
    case ":authority": authority = text
    case let other where other.utf8.first == UInt8(ascii: ":"): break
    case let other: request.headers.add(other, text)
    }
  }

  /// The head is whole. True when the body is announced to be too large, so that no more of it need come.
  func finishHead() -> Bool {
    isHeadWhole = true
    if let authority, request.headers["host"] == nil { request.headers.add("host", authority) }
    guard let length = request.headers["content-length"].flatMap(Int.init), length > limits.body else { return false }
    request.bodyTooLarge = true
    return true
  }

  /// A part of the body. True when that makes it too large.
  func received(body: UnsafeBufferPointer<UInt8>) -> Bool {
    guard case .receiving = phase else { return false }
    guard request.body.count + body.count <= limits.body else {
      request.body = []
      request.bodyTooLarge = true
      return true
    }
    request.body.append(contentsOf: body)
    return false
  }

  func setReply(_ body: [UInt8]) {
    reply = body
    sent = 0
  }

  /// Copies the next part of the reply's body into `room`: how much, and whether it was the last.
  func takeReply(into room: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
    let count = min(room.count, reply.count - sent)
    reply.withUnsafeBytes { room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sent..<(sent + count)])) }
    sent += count
    return (count, sent == reply.count)
  }

  func end() {
    deadline?.end()
    exchange?.peerGone()
  }
}
