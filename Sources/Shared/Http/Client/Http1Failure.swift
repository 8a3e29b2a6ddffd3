/// Why an HTTP/1.1 request has no answer.
package enum Http1Failure: Error, Equatable, Sendable {
  case connect(ConnectFailure)
  /// The deadline passed, the request being on its way or sent.
  case timedOut
  /// The connection broke before the answer was whole.
  case connectionLost(String)
  /// The answer is not HTTP/1, or goes over a bound.
  case unreadable(String)
  /// The request itself cannot be written: a line break or the like in its method or headers.
  case unwritable
}
