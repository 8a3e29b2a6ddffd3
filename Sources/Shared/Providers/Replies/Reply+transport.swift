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
    case .overloaded: self = .crowdedOut(reason: "refused_stream: too many wait for a stream")
    case .timedOut(sent: false): self = .crowdedOut(reason: "timeout: no stream came free")
    case .timedOut(sent: true): self = Self.broken("timeout", pause)
    case .reset(let code): self = Self.broken("reset: HTTP/2 error \(code)", pause)
    case .goneAway(let text): self = Self.broken(ReplyTable.bounded("goaway: \(text)"), pause)
    case .connectionLost: self = Self.broken("connection_lost", pause)
    }
  }

  /// The push had gone out when the way broke: nobody knows what became of it.
  private static func broken(_ reason: String, _ pause: Int64) -> Reply {
    .again(reason: reason, minimum: pause, isUnknown: true)
  }

  private static func unconnected(_ fault: ConnectFailure) -> Reply {
    let text = fault.text
    switch fault.step {
    case .dns: return .untouched(reason: ReplyTable.bounded("dns: \(text)"))
    case .tcp, .settings: return .untouched(reason: ReplyTable.bounded("connect_failed: \(text)"))
    case .timeout: return .untouched(reason: ReplyTable.bounded("timeout: \(text)"))
    case .tls: return .untouched(reason: ReplyTable.bounded("tls: \(text)"))
    // The operator's roots, or an attack: no push may be tried against it, and somebody must be told.
    case .tlsTrust: return .park(reason: ReplyTable.bounded("tls: TLS trust: \(text)"))
    }
  }
}
