/// What happens to a pool's connections, for log lines and metrics.
package enum Http2PoolEvent: Sendable {
  /// A connection is open; `milliseconds` took name, TCP, TLS and SETTINGS.
  case connected(address: String, milliseconds: Int)
  case connectFailed(ConnectFailure)
  /// The server takes no more requests on a connection; routine, unless its code or reason says otherwise.
  case goneAway(Http2GoAway)
  /// A connection ended with a fault: it broke, fell silent, took no more requests, or the server closed it without a word.
  case lost(String)
  /// A connection closed as it should, after its last answer.
  case drained
}
