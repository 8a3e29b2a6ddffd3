internal import Loop

/// One request of an HTTP/2 connection, while it comes in and while it is answered.
@LoopActor
final class Http2ServerStream {
  enum Phase {
    case receiving
    /// A handler has it, or had.
    case handed
    /// The reply is out and the request is not whole: so much of it was thrown away.
    case answered(discarded: Int)
  }

  let id: Int32
  var phase = Phase.receiving
  var exchange: HttpExchange?
  /// For the part of the request that is to come.
  private var deadline: Deadline?
  /// Over the bounds of a head: answered 431 when it is whole.
  private(set) var isHeadTooLarge = false
  private var isHeadWhole = false
  private(set) var request = HttpRequest(method: "", path: "", version: 2)
  private var authority: String?
  private var headBytes = 0
  private let limits: RequestParser.Limits

  private var reply: [UInt8] = []
  private var sent = 0
  /// When the rest of the reply's body has to be gone; nil when there is none.
  private(set) var replyDue: Monotonic?

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

  /// Counts what is thrown away of a request that was answered. True when that is more than `limit`.
  func discards(_ count: Int, limit: Int) -> Bool {
    guard case .answered(let discarded) = phase else { return false }
    phase = .answered(discarded: discarded + count)
    return discarded + count > limit
  }

  func setDeadline(_ milliseconds: Int, _ passed: @escaping @LoopActor () -> Void) {
    deadline?.end()
    deadline = Deadline(passed)
    deadline?.set(milliseconds: milliseconds)
  }

  func endDeadline() {
    deadline?.end()
    deadline = nil
  }

  func setReply(_ body: [UInt8], due: Monotonic) {
    reply = body
    sent = 0
    replyDue = due
  }

  /// Copies the next part of the reply's body into `room`: how much, and whether it was the last.
  func takeReply(into room: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
    let count = min(room.count, reply.count - sent)
    room.copyBytes(from: reply[sent..<(sent + count)])
    sent += count
    if sent == reply.count { replyDue = nil }
    return (count, sent == reply.count)
  }

  func end() {
    endDeadline()
    exchange?.peerGone()
  }
}
