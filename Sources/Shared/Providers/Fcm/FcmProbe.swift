package import Contract
internal import Http
package import Loop
package import Tls

/// One validate-only send to Google with a token that no phone has: nothing is delivered, and Google's opinion of that token
/// shows that network, endpoint, project, credential and its role are right.
@LoopActor
package struct FcmProbe {
  /// What came of it.
  package enum Verdict: Sendable, Equatable {
    /// With Google's words about the token: `accepted`, or why it is none.
    case passed(String)
    case failed(String)
  }

  private let origin: Http.Origin
  private let project: String
  private let tokens: any AccessTokenSource
  private let pool: any PushConnections
  private let pause: Int

  /// Attempts; what may pass by itself is tried again.
  static let attempts = 3
  /// Well-formed, and nobody's.
  static let token = String(repeating: "probe-", count: 6) + ":" + String(repeating: "A", count: 100)

  /// - Parameters:
  ///   - project: the Firebase project's id.
  ///   - tls: for an https origin.
  package init(origin: Contract.Origin, project: String, tokens: any AccessTokenSource, tls: TlsClientContext?) {
    let origin = Http.Origin(origin)
    self.init(
      origin: origin, project: project, tokens: tokens,
      pool: Http2Pool(origin: origin, tls: tls, limits: Http2PoolLimits(), events: { _ in }), pause: 1_000)
  }

  /// - Parameter pause: between attempts, in ms.
  init(
    origin: Http.Origin, project: String, tokens: any AccessTokenSource, pool: any PushConnections, pause: Int
  ) {
    self.origin = origin
    self.project = project
    self.tokens = tokens
    self.pool = pool
    self.pause = pause
  }

  /// At most about 40 s.
  package func run() async -> Verdict {
    defer { pool.drain() }
    var last = Verdict.failed("not tried")
    for attempt in 1...Self.attempts {
      let (verdict, isFinal) = await ask()
      if isFinal || attempt == Self.attempts { return verdict }
      last = verdict
      do { try await EventLoop.shared.sleep(milliseconds: pause) } catch { return last }
    }
    return last
  }

  private func ask() async -> (verdict: Verdict, isFinal: Bool) {
    let bearer: AccessToken
    do throws(AccessTokenFailure) { bearer = try await tokens.fetch() } catch {
      return (.failed("credential_unavailable: \(error)"), false)
    }
    let request = FcmRequest.probe(
      token: Self.token, origin: origin, project: project, accessToken: bearer.text)
    do throws(Http2Failure) {
      let response = try await pool.send(request)
      return Self.judge(
        ReplyTable.reply(
          to: ProviderAnswer(
            status: response.status, body: response.body, registeredAt: 0, credentialIsFresh: true,
            now: WallClock.milliseconds), route: .fcm))
    } catch {
      return Self.judge(Reply(error, route: .fcm))
    }
  }

  /// A token that is refused for being none has been looked at, which comes after everything that is probed.
  static func judge(_ reply: Reply) -> (verdict: Verdict, isFinal: Bool) {
    switch reply {
    case .accepted: (.passed("accepted"), true)
    case .dead(let reason, _, isSuspicious: false): (.passed(reason), true)
    case .again, .untouched: (.failed(reply.reason ?? "no answer"), false)
    default: (.failed(reply.reason ?? "no answer"), true)
    }
  }
}
