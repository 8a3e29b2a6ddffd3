package import Contract
package import Http
internal import Keys
package import Loop
package import Tls

/// The way to one of Apple's two worlds with one signing key.
@LoopActor
package final class ApnsSender: CredentialSender {
  private let route: Route
  private let origin: Http.Origin
  private let topic: String
  private let clock: PushClock
  private let credential: ApnsCredential
  private var tokens: ProviderTokens
  /// The token that the connections have seen.
  private var shown: String?
  private let proven: Connections
  /// For tokens that Apple has not accepted yet: bad ones make Apple slow a connection down or close it, and anyone may
  /// register any token.
  private let unproven: Connections

  /// - Parameters:
  ///   - route: one of Apple's.
  ///   - topic: the app's bundle id.
  ///   - tls: for an https origin.
  ///   - events: what happens to the connections; called on the loop.
  package convenience init(
    route: Route, origin: Contract.Origin, topic: String, credential: ApnsCredential, tls: TlsClientContext?,
    limits: Http2PoolLimits = Http2PoolLimits(), events: @escaping @LoopActor (Http2PoolEvent) -> Void = { _ in }
  ) {
    let origin = Http.Origin(origin)
    var narrow = limits
    narrow.connections = 1
    self.init(
      route: route, origin: origin, topic: topic, credential: credential,
      proven: Http2Pool(origin: origin, tls: tls, limits: limits, events: events),
      unproven: Http2Pool(origin: origin, tls: tls, limits: narrow, events: events))
  }

  init(
    route: Route, origin: Http.Origin, topic: String, credential: ApnsCredential, proven: any PushConnections,
    unproven: any PushConnections, clock: PushClock = PushClock()
  ) {
    self.route = route
    self.origin = origin
    self.topic = topic
    self.credential = credential
    self.proven = Connections(proven)
    self.unproven = Connections(unproven)
    self.clock = clock
    tokens = ProviderTokens(credential.token)
  }

  package func send(_ push: Push, _ done: @escaping Done) { send(push, PushBudget(began: clock.now()), done) }

  package func send(_ push: Push, _ budget: PushBudget, _ done: @escaping Done) {
    send(push, budget, Remedies(), done)
  }

  /// What has been done for a push already that Apple refused.
  private struct Remedies {
    var isRenewed = false
    var isReconnected = false
  }

  /// Sends it, and again for a fault that can be mended, each kind once.
  private func send(_ push: Push, _ budget: PushBudget, _ remedies: Remedies, _ done: @escaping Done) {
    let asked = clock.now()
    let token: String
    do throws(KeyFault) { token = try tokens.current(wall: clock.wall(), now: asked) } catch {
      return done(SendReport(reply: .park(reason: "credential_unavailable: the APNs key \(error)"), seconds: 0))
    }
    show(token)
    let own = push.isProven ? proven : unproven
    let seen = own.generation
    var request = ApnsRequest.make(push, origin: origin, topic: topic, providerToken: token)
    request.deadline = budget.left(clock.now())
    own.pool.send(request) { [self] outcome in
      let (reply, date) = read(outcome, push, token, remedies)
      let ended = clock.now()
      @LoopActor func report(_ reply: Reply) { done(SendReport(reply: reply, seconds: ended.seconds(since: asked))) }

      var remedies = remedies
      switch reply {
      case .refreshCredential(let reason):
        guard (try? tokens.expired(token, wall: clock.wall(), now: ended)) == true else {
          return report(.park(reason: explained(reason, date)))
        }
        remedies.isRenewed = true
      case .reconnect(let reason):
        if remedies.isReconnected { return report(.park(reason: explained(reason, date))) }
        own.replace(ifStill: seen)
        remedies.isReconnected = true
      case .park(let reason): return report(.park(reason: explained(reason, date)))
      default: return report(reply)
      }
      if !budget.allowsResend(ended) { return report(.again(reason: reply.reason ?? "", minimum: 0)) }
      send(push, budget, remedies, done)
    }
  }

  /// No connection shows two tokens: Apple counts 20 minutes between them by connection, and one that has refused a token
  /// as expired goes on refusing.
  private func show(_ token: String) {
    if shown != nil, shown != token {
      proven.replace(ifStill: proven.generation)
      unproven.replace(ifStill: unproven.generation)
    }
    shown = token
  }

  /// What an outcome means. With it comes the time by Apple's clock as the answer gives it, if it does.
  private func read(
    _ outcome: Result<Http2ClientResponse, Http2Failure>, _ push: Push, _ token: String, _ remedies: Remedies
  ) -> (Reply, String?) {
    switch outcome {
    case .success(let response):
      tokens.noteUse(of: token, clock.now())
      let answer = ProviderAnswer(
        status: response.status, body: response.body, apnsId: response.headers["apns-id"],
        retryAfter: response.headers["retry-after"], registeredAt: push.registeredAt,
        credentialIsFresh: remedies.isRenewed, now: clock.wall())
      return (ReplyTable.reply(to: answer, route: route), response.headers["date"])
    case .failure(let failure): return (Reply(failure, route: route), nil)
    }
  }

  /// A reason with what an operator should look at.
  private func explained(_ reason: String, _ date: String?) -> String {
    let skew = ClockSkew(theirs: date.flatMap(HttpDate.parse), ours: clock.wall())
    switch reason {
    case "ExpiredProviderToken":
      return "\(reason): \(skew?.description ?? "is this machine's clock right?")"
    case "InvalidProviderToken", "MissingProviderToken", "UnrelatedKeyIdInToken", "BadEnvironmentKeyInToken",
      "BadEnvironmentKeyIdInToken", "Forbidden", "HTTP 403":
      let names = "key id \(credential.keyId), team id \(credential.teamId), \(route.environment)"
      // A token from the future is refused with the same word as one of a wrong key.
      return "\(reason): \(names)\(skew.map { $0.isLarge ? "; \($0)" : "" } ?? "")"
    default: return reason
    }
  }

  /// What either kind of connection could take now, less what waits for it: which one a push needs is not known beforehand.
  package var freeCapacity: Int { proven.pool.freeCapacity + unproven.pool.freeCapacity }

  package var inFlight: Int { proven.pool.inFlight + unproven.pool.inFlight }
  package var connectionCount: Int { proven.pool.connectionCount + unproven.pool.connectionCount }
  package var credentialAge: Double? { tokens.age(clock.now()) }

  package func close() async {
    proven.pool.drain()
    unproven.pool.drain()
  }
}
