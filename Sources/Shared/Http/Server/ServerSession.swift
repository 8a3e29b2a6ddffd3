internal import Loop

/// What speaks a protocol over a `ServerConnection`. Told of the transport's events, it answers by the connection's calls.
@LoopActor
protocol ServerSession: AnyObject {
  var connection: ServerConnection { get }
  /// Between two requests: nobody would miss the connection.
  var isIdle: Bool { get }
  /// Bytes from the peer, valid during the call.
  func receive(_ bytes: Span<UInt8>)
  /// The peer will send no more.
  func receivedEnd()
  /// About to write, at a turn's end: what is still to be put into the connection's output.
  func gather()
  /// Everything written so far has been taken by the kernel.
  func written()
  /// The handler's reply; nil when it dealt with the request itself.
  func answer(_ exchange: HttpExchange, _ response: HttpResponse?)
  /// The connection's deadline has passed.
  func deadlinePassed()
  /// Take no new requests, and close as soon as those in hand are answered.
  func drain()
  /// The connection is gone.
  func ended()
}

extension ServerSession {
  func deadlinePassed() { connection.close() }
}
