import Contract
import Http
import Loop
import Operations
import Testing

@testable import Providers

/// Gives out `T1`, `T2` and so on.
@LoopActor
private final class Counting: AccessTokenSource {
  private(set) var given = 0
  var failure: AccessTokenFailure?
  var wait: @LoopActor () -> Void = {}
  nonisolated init() {}

  func fetch() async throws(AccessTokenFailure) -> AccessToken {
    wait()
    if let failure { throw failure }
    given += 1
    return AccessToken(text: "T\(given)", lifetime: 3_600)
  }
}

@Suite("Sending to Google")
@LoopActor
struct FcmSenderTests {
  private let source = Counting()
  private let time = StandingClock()
  private let push = Push.test(.full(), .fcm)
  private let unauthenticated = #"{"error":{"code":401,"status":"UNAUTHENTICATED"}}"#

  private func sender(_ wire: ScriptedConnections) -> FcmSender {
    FcmSender(
      origin: .test, project: "p", alerts: .notification, tokens: AccessTokens(source), connections: wire,
      clock: time.clock)
  }

  @Test("An accepted push is reported with Google's id")
  func accepted() async {
    let wire = ScriptedConnections(.answer(200, #"{"name":"projects/p/messages/1"}"#))
    #expect(await sender(wire).send(push).reply == .accepted(id: "projects/p/messages/1"))
    #expect(wire.bearers == ["Bearer T1"])
  }

  @Test("A thousand refused pushes renew the access token once and all go again")
  func refused() async {
    let wire = ScriptedConnections()
    wire.respond = { [unauthenticated] _, bearer in
      await Task.yield()
      return bearer == "Bearer T1" ? .answer(401, unauthenticated) : .answer(200, "{}")
    }
    let sender = sender(wire)
    let sends = (0..<1_000).map { _ in EventLoop.shared.start { await sender.send(push).reply } }
    for send in sends { #expect(await send.value == .accepted(id: nil)) }
    #expect(source.given == 2)
    #expect(wire.replacements == 0)
  }

  @Test("A 401 that survives a fresh token parks, after two requests")
  func surviving() async {
    let wire = ScriptedConnections(.answer(401, unauthenticated), .answer(401, unauthenticated))
    #expect(await sender(wire).send(push).reply == .park(reason: "UNAUTHENTICATED"))
    #expect(wire.bearers == ["Bearer T1", "Bearer T2"])
  }

  @Test("Without an access token the lane parks and says why")
  func noToken() async {
    source.failure = AccessTokenFailure("the token server answers 400 invalid_grant")
    let wire = ScriptedConnections()
    let reply = await sender(wire).send(push).reply
    #expect(reply == .park(reason: "credential_unavailable: the token server answers 400 invalid_grant"))
    #expect(reply.label == "credential_unavailable")
    #expect(wire.bearers.isEmpty)
  }

  @Test("A refresh, a late 401 and another refresh end within the time of one push; the next push has the new token")
  func budget() async {
    let wire = ScriptedConnections()
    // Google takes its time with the refusal, and the token server with the token.
    wire.respond = { [time, unauthenticated] _, bearer in
      time.pass(9.5)
      return bearer == "Bearer T1" ? .answer(401, unauthenticated) : .answer(200, "{}")
    }
    source.wait = { [time] in time.pass(3.9) }
    let sender = sender(wire)
    #expect(await sender.send(push).reply == .again(reason: "UNAUTHENTICATED", minimum: 0))
    // The token was fetched before the request, and its successor is not waited for.
    #expect(wire.bearers == ["Bearer T1"])
    #expect(await sender.send(push).reply == .accepted(id: nil))
    #expect(wire.bearers == ["Bearer T1", "Bearer T2"])
    #expect(source.given == 2)
  }

  @Test("Room and connections are the pool's; closing drains it")
  func gauges() async {
    let wire = ScriptedConnections()
    let sender = sender(wire)
    #expect((sender.freeCapacity, sender.connectionCount) == (5, 1))
    await sender.close()
    #expect(wire.isDrained)
  }
}
