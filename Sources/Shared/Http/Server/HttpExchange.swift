package import Loop

/// One request and its reply on the wire, for handlers that need more than to return a reply: simulators of providers.
///
/// A handler that deals with the request by one of these calls returns nil. Everything here is harmless once the
/// connection is gone.
@LoopActor
package final class HttpExchange {
  private let connection: ServerConnection
  /// The HTTP/2 stream; 0 on HTTP/1.
  package let streamId: Int
  /// The place of this request among those of its connection, from 1.
  package let requestsOnConnection: Int
  /// Whether the stream or connection has ended, by whichever side.
  package private(set) var isPeerGone = false
  private var waiters: [CheckedContinuation<Void, Never>] = []
  let isHead: Bool
  private(set) weak var http2: Http2ServerSession?

  init(
    _ connection: ServerConnection, streamId: Int, requestsOnConnection: Int, isHead: Bool,
    http2: Http2ServerSession? = nil
  ) {
    self.connection = connection
    self.streamId = streamId
    self.requestsOnConnection = requestsOnConnection
    self.isHead = isHead
    self.http2 = http2
  }

  package var isHttp2: Bool { streamId != 0 }

  /// Tells the connections of a server apart, from 1.
  package var connectionId: Int { connection.id }

  /// Closes the connection abruptly, other streams included.
  package func closeConnection() { connection.close() }

  /// Suspends until the stream or connection ends: the handler that never answers. The peer closing its sending half
  /// counts as an end.
  package func hang() async {
    // Looked at inside: a task may let others run on its way into a continuation.
    await withCheckedContinuation { waiter in
      if isPeerGone { waiter.resume() } else { waiters.append(waiter) }
    }
  }

  func answer(_ response: HttpResponse?) { connection.answer(self, response) }

  func peerGone() {
    isPeerGone = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
