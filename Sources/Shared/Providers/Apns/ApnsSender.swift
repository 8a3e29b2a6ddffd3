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

  package func send(_ push: Push) async -> SendReport { await send(push, PushBudget(began: clock.now())) }

  package func send(_ push: Push, _ budget: PushBudget) async -> SendReport {
    let own = push.isProven ? proven : unproven
    var isRenewed = false
    var isReconnected = false
    while true {
      let asked = clock.now()
      let token: String
      do throws(KeyFault) { token = try tokens.current(wall: clock.wall(), now: asked) } catch {
        return SendReport(reply: .park(reason: "credential_unavailable: the APNs key \(error)"), seconds: 0)
      }
      show(token)
      let seen = (proven.generation, unproven.generation)
      let (reply, date) = await ask(push, own, token, isRenewed, budget)
      let ended = clock.now()
      func report(_ reply: Reply) -> SendReport { SendReport(reply: reply, seconds: ended.seconds(since: asked)) }

      switch reply {
      case .refreshCredential(let reason):
        guard (try? tokens.expired(token, wall: clock.wall(), now: ended)) == true else {
          return report(.park(reason: explained(reason, date)))
        }
        isRenewed = true
      case .reconnect(let reason):
        if isReconnected { return report(.park(reason: explained(reason, date))) }
        own.replace(ifStill: push.isProven ? seen.0 : seen.1)
        isReconnected = true
      case .park(let reason): return report(.park(reason: explained(reason, date)))
      default: return report(reply)
      }
      if !budget.allowsResend(ended) { return report(.again(reason: reply.reason ?? "", minimum: 0)) }
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

  /// One request. With its meaning comes the time by Apple's clock, where the answer says, in Unix ms.
  private func ask(
    _ push: Push, _ own: Connections, _ token: String, _ isRenewed: Bool, _ budget: PushBudget
  ) async -> (Reply, Int64?) {
    var request = ApnsRequest.make(push, origin: origin, topic: topic, providerToken: token)
    request.deadline = budget.left(clock.now())
    do throws(Http2Failure) {
      let response = try await own.pool.send(request)
      tokens.noteUse(of: token, clock.now())
      let answer = ProviderAnswer(
        status: response.status, body: response.body, apnsId: response.headers["apns-id"],
        retryAfter: response.headers["retry-after"], registeredAt: push.registeredAt, credentialIsFresh: isRenewed,
        now: clock.wall())
      return (ReplyTable.reply(to: answer, route: route), response.headers["date"].flatMap(HttpDate.parse))
    } catch {
      return (Reply(error, route: route), nil)
    }
  }

  /// A reason with what an operator should look at.
  private func explained(_ reason: String, _ date: Int64?) -> String {
    let skew = ClockSkew(theirs: date, ours: clock.wall())
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
