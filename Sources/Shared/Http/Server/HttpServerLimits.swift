/// Bounds of a server. Times are in milliseconds.
package struct HttpServerLimits: Sendable {
  /// Bounds of one request.
  package var request = RequestParser.Limits()
  /// Open connections. When there are as many, a new one takes the place of the one that has been idle longest; where none is
  /// idle, it waits in the kernel's backlog until one is or ends.
  package var connections = 1_024

  /// From the connection's start to the end of its TLS handshake.
  package var tlsHandshake = 10_000
  /// From the connection's start, or the end of its TLS handshake, to the first byte.
  package var firstByte = 10_000
  /// From a request's first byte to the end of its head.
  package var head = 10_000
  /// From the end of a head to the end of the body.
  package var body = 30_000
  /// Between a reply and the next request.
  package var idle = 75_000
  /// For the peer to take in what was written: cuts slow readers.
  package var write = 30_000
  /// For the peer to close its end after ours is closed.
  package var linger = 1_000

  /// Bytes of requests that wait for the one before them on an HTTP/1 connection. Beyond, no more is read until
  /// less waits.
  package var pipelined = 65_536
  /// Requests of an HTTP/1 connection that are answered one after another before the other connections have their turn.
  package var pipelinedInARow = 16
  /// Bytes of replies gathered for a connection beyond which the next reply waits for these to be taken in.
  package var gathered = 262_144
  /// Bytes thrown away after the last reply of a connection, for the peer to see the reply.
  package var discarded = 262_144

  /// Open streams of an HTTP/2 connection.
  package var streams = 256
  /// Bytes of unfinished bodies on an HTTP/2 connection, all streams together.
  package var streamBodies = 2_097_152

  package init() {}
}
