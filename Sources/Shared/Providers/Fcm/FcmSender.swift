package import Contract
package import Http
package import Loop
package import Operations
package import Tls

/// The way to Android phones, through Google, with one credential.
@LoopActor
package final class FcmSender: CredentialSender {
  private let origin: Http.Origin
  private let project: String
  private let form: FcmSettings.Alerts
  private let clock: PushClock
  private let tokens: AccessTokens
  private let connections: Connections

  /// About what Google allows on one connection: more brings GOAWAY.
  private static let streams = 100

  /// - Parameters:
  ///   - project: the Firebase project's id.
  ///   - tls: for an https origin.
  ///   - events: what happens to the connections; called on the loop.
  package convenience init(
    origin: Contract.Origin, project: String, alerts: FcmSettings.Alerts, tokens: any AccessTokenSource,
    tls: TlsClientContext?, limits: Http2PoolLimits = Http2PoolLimits(),
    events: @escaping @LoopActor (Http2PoolEvent) -> Void = { _ in }
  ) {
    let origin = Http.Origin(origin)
    var limits = limits
    limits.streamsPerConnection = min(limits.streamsPerConnection, Self.streams)
    self.init(
      origin: origin, project: project, alerts: alerts, tokens: AccessTokens(tokens),
      connections: Http2Pool(origin: origin, tls: tls, limits: limits, events: events))
  }

  init(
    origin: Http.Origin, project: String, alerts: FcmSettings.Alerts, tokens: AccessTokens,
    connections: any PushConnections, clock: PushClock = PushClock()
  ) {
    self.origin = origin
    self.project = project
    form = alerts
    self.tokens = tokens
    self.connections = Connections(connections)
    self.clock = clock
  }

  package func send(_ push: Push, _ done: @escaping Done) { send(push, PushBudget(began: clock.now()), done) }

  // A task each: a token may have to be waited for, and Google lets few pushes be on their way at once.
  package func send(_ push: Push, _ budget: PushBudget, _ done: @escaping Done) {
    EventLoop.shared.start { [self] in done(await deliver(push, budget)) }
  }

  private func deliver(_ push: Push, _ budget: PushBudget) async -> SendReport {
    var renewed: String?
    while true {
      let asked: Monotonic
      let reply: Reply
      do throws(AccessTokenFailure) {
        let token = if let renewed { renewed } else { try await tokens.current() }
        asked = clock.now()
        reply = await ask(push, token, isFresh: renewed != nil, budget)
        if case .refreshCredential(let reason) = reply {
          guard budget.allowsResend(clock.now()) else {
            // Another token is fetched for the next push; this one has no time left to wait for it.
            tokens.giveUp(token)
            return SendReport(reply: .again(reason: reason, minimum: 0), seconds: clock.now().seconds(since: asked))
          }
          renewed = try await tokens.successor(of: token)
        }
      } catch {
        return SendReport(reply: .park(reason: ReplyTable.bounded("credential_unavailable: \(error)")), seconds: 0)
      }
      let ended = clock.now()
      func report(_ reply: Reply) -> SendReport { SendReport(reply: reply, seconds: ended.seconds(since: asked)) }

      guard case .refreshCredential(let reason) = reply else { return report(reply) }
      if renewed == nil { return report(.park(reason: reason)) }
      if !budget.allowsResend(ended) { return report(.again(reason: reason, minimum: 0)) }
    }
  }

  /// One request.
  private func ask(_ push: Push, _ token: String, isFresh: Bool, _ budget: PushBudget) async -> Reply {
    var request = FcmRequest.make(
      push.later(Int64(clock.now().milliseconds(since: budget.began))), origin: origin, project: project, form: form,
      accessToken: token)
    request.deadline = budget.left(clock.now())
    do throws(Http2Failure) {
      let response = try await connections.pool.send(request)
      return ReplyTable.reply(
        to: ProviderAnswer(
          status: response.status, body: response.body, retryAfter: response.headers["retry-after"],
          registeredAt: push.registeredAt, credentialIsFresh: isFresh, now: clock.wall()), route: .fcm)
    } catch {
      return Reply(error, route: .fcm)
    }
  }

  package var freeCapacity: Int { connections.pool.freeCapacity }
  package var inFlight: Int { connections.pool.inFlight }
  package var connectionCount: Int { connections.pool.connectionCount }
  package var credentialAge: Double? { tokens.age }

  package func close() async { connections.pool.drain() }
}
