internal import Contract
internal import Http

extension Reply {
  /// What it means that no answer came (rulings 6.7).
  init(_ failure: Http2Failure, route: Route) {
    // Where the provider may have seen the push, it asks for its pause; where it has not, no attempt was made.
    let pause = route == .fcm ? ReplyTable.fcmPause : 0
    switch failure {
    case .connect(let fault): self = Self.unconnected(fault)
    case .refused: self = .untouched(reason: "refused_stream")
    case .overloaded: self = .untouched(reason: "refused_stream: too many wait for a stream")
    case .timedOut(sent: false): self = .untouched(reason: "timeout: no stream came free")
    case .timedOut(sent: true): self = .again(reason: "timeout", minimum: pause)
    case .reset(let code): self = .again(reason: "reset: HTTP/2 error \(code)", minimum: pause)
    case .goneAway(let text): self = .again(reason: ReplyTable.bounded("goaway: \(text)"), minimum: pause)
    case .connectionLost: self = .again(reason: "connection_lost", minimum: pause)
    case .cancelled: self = .again(reason: "connection_lost: cancelled", minimum: pause)
    }
  }

  private static func unconnected(_ fault: ConnectFailure) -> Reply {
    let text = fault.text
    switch fault.step {
    case .dns: return .untouched(reason: ReplyTable.bounded("dns: \(text)"))
    case .tcp, .settings: return .untouched(reason: ReplyTable.bounded("connect_failed: \(text)"))
    case .timeout: return .untouched(reason: ReplyTable.bounded("timeout: \(text)"))
    case .tls: return .untouched(reason: ReplyTable.bounded("tls: \(text)"))
    // The operator's roots, or an attack: no push may be tried against it, and somebody must be told.
    case .tlsTrust: return .park(reason: ReplyTable.bounded("tls: \(text)"))
    }
  }
}
