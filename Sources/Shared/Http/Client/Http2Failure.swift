/// Why a connection did not come about, for operators.
package struct ConnectFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// The step that failed.
  package enum Step: String, Sendable {
    /// The name did not resolve.
    case dns
    /// No address accepted a connection.
    case tcp
    /// The server's certificate is not trusted or has another name: a fault of the operator's roots, or an attack.
    case tlsTrust
    /// Any other end of the TLS handshake, HTTP/2 not being offered included.
    case tls
    /// The whole of it took too long.
    case timeout
    /// The server sent no HTTP/2 settings, or something else than HTTP/2.
    case settings
  }

  package let step: Step
  /// One line, without secrets.
  package let text: String

  package init(step: Step, text: String) {
    self.step = step
    self.text = text
  }

  package var description: String { "\(step.rawValue): \(text)" }
}

/// Why a request has no answer.
package enum Http2Failure: Error, Equatable, Sendable {
  /// No connection could be opened.
  case connect(ConnectFailure)
  /// The server did not look at the request (REFUSED_STREAM, or above GOAWAY's last stream), or it never left this
  /// process. Resending is safe, at once, and no attempt was spent.
  case refused
  /// The server reset the stream with this HTTP/2 error code.
  case reset(UInt32)
  /// The server closed the connection, giving this reason; whether it looked at the request is unknown.
  case goneAway(String)
  /// The request's deadline passed; `sent` tells whether it had left for the server.
  case timedOut(sent: Bool)
  /// The connection broke, or fell silent; whether the server looked at the request is unknown.
  case connectionLost
  /// More requests are waiting for a stream than the pool allows.
  case overloaded

  /// The server has surely not acted on the request.
  package var isUnprocessed: Bool {
    switch self {
    case .connect, .refused, .overloaded: true
    case .timedOut(let sent): !sent
    case .reset, .goneAway, .connectionLost: false
    }
  }
}
