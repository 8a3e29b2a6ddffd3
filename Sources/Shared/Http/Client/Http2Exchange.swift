internal import Loop

/// One request on its way to an answer: waiting in the pool, then a stream of a connection, perhaps of another one
/// after a refusal. HTTP/2 holds its address while it is a stream.
@LoopActor
final class Http2Exchange: Flushable {
  let request: Http2ClientRequest
  /// When its owner sent it.
  let arrived: Monotonic
  let deadline: Monotonic
  /// Told the outcome, once.
  private var done: Http2Pool.Done?
  /// The outcome stands.
  private(set) var isSettled = false
  /// Why there is no answer; nil when `response` is the answer.
  private var failure: Http2Failure?

  /// Its stream, while it is one.
  var streamId: Int32 = 0
  /// When it last became a stream.
  var submitted: Monotonic
  /// How many bytes of the body HTTP/2 has taken.
  var bodyTaken = 0
  /// The server may have seen the whole request. Bodies follow their headers, so it is false until the body moves.
  var mayBeProcessed = false
  /// HTTP/2 gave the stream up before its headers left.
  var notSent = false
  /// The answer has ended.
  var ended = false
  var response = Http2ClientResponse()
  var resends = 0

  init(_ request: Http2ClientRequest, now: Monotonic, _ done: @escaping Http2Pool.Done) {
    self.request = request
    self.done = done
    arrived = now
    submitted = now
    deadline = now.advanced(milliseconds: request.deadline)
  }

  /// Tells the outcome, the first time: at the end of the turn, since HTTP/2 may be calling back, and the pool be going
  /// through its requests.
  func settle(_ outcome: Http2Failure?) {
    guard !isSettled else { return }
    isSettled = true
    failure = outcome
    EventLoop.shared.flushAtTurnsEnd(self)
  }

  func flush() {
    guard let done else { return }
    self.done = nil
    done(failure.map { .failure($0) } ?? .success(response))
  }

  /// Ready to become a stream.
  func begin(_ now: Monotonic) {
    submitted = now
    bodyTaken = 0
    mayBeProcessed = request.body.isEmpty
    notSent = false
    ended = false
    response = Http2ClientResponse()
  }

  func received(header name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    // The only pseudo-header field of an answer (RFC 9113 8.3.2); HTTP/2 lets no other through.
    if name.first == UInt8(ascii: ":") {
      response.begin(status: value)
    } else {
      response.add(header: name, value)
    }
  }

  func received(body chunk: UnsafeBufferPointer<UInt8>) {
    let room = Http2ClientResponse.bodyLimit - response.body.count
    response.body.append(contentsOf: chunk.prefix(room))
  }

  /// Copies the next part of the body; the second value tells whether it was the last.
  func takeBody(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, last: Bool) {
    let count = min(buffer.count, request.body.count - bodyTaken)
    buffer.copyBytes(from: request.body[bodyTaken..<(bodyTaken + count)])
    bodyTaken += count
    mayBeProcessed = true
    return (count, bodyTaken == request.body.count)
  }
}
