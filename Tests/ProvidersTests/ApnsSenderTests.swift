import Contract
import Http
import Json
import Keys
import Loop
import Testing

@testable import Providers

@Suite("Sending to Apple")
@LoopActor
struct ApnsSenderTests {
  private let key: Es256Key
  private let time = StandingClock()

  init() throws { key = try Es256Key.generate() }

  private func sender(_ proven: ScriptedConnections, _ unproven: ScriptedConnections = ScriptedConnections())
    -> ApnsSender
  {
    ApnsSender(
      route: .apnsProduction, origin: .test, topic: "t",
      credential: ApnsCredential(keyId: "KEYKEYKEY0", teamId: "TEAMTEAM00", key: key), proven: proven,
      unproven: unproven,
      clock: time.clock)
  }

  private let push = Push.test(.full())

  @Test("An accepted push is reported with Apple's id and its time")
  func accepted() async {
    let wire = ScriptedConnections()
    wire.respond = { [time] _, _ in
      time.pass(0.25)
      return .answer(200, "")
    }
    let report = await sender(wire).send(push)
    #expect(report.reply == .accepted(id: "ID"))
    #expect(report.seconds == 0.25)
  }

  @Test("A token that Apple has not accepted yet goes its own way")
  func unproven() async {
    let (proven, unproven) = (ScriptedConnections(), ScriptedConnections())
    let sender = sender(proven, unproven)
    _ = await sender.send(.test(.full(), isProven: false))
    #expect((proven.bearers.count, unproven.bearers.count) == (0, 1))
    _ = await sender.send(push)
    #expect((proven.bearers.count, unproven.bearers.count) == (1, 1))
    #expect(proven.bearers == unproven.bearers)
  }

  @Test("The provider token names key and team, and verifies")
  func token() async throws {
    let wire = ScriptedConnections()
    _ = await sender(wire).send(push)
    let bearer = try #require(wire.bearers.first)
    #expect(bearer.hasPrefix("bearer "))
    let token = try #require(WebToken.parse(String(bearer.dropFirst(7))))
    #expect(token.header["kid"]?.string == "KEYKEYKEY0")
    #expect(token.claims["iss"]?.string == "TEAMTEAM00")
    #expect(token.isSigned(by: Es256Verifier(key)))
  }

  @Test("An expired token is renewed once for all, and each push goes again on new connections")
  func expired() async {
    // The connection is wedged: it refuses whatever comes until it is replaced.
    let wire = ScriptedConnections()
    wire.respond = { [weak wire] number, _ in
      await Task.yield()
      return number < 500 && wire?.connections[number] == 0 ? .reason(403, "ExpiredProviderToken") : .answer(200, "")
    }
    time.pass(60)
    let sender = sender(wire)
    // In turn on the loop: all have sent before the first is answered.
    let sends = (0..<500).map { _ in EventLoop.shared.start { await sender.send(push).reply } }
    for send in sends { #expect(await send.value == .accepted(id: "ID")) }
    #expect(wire.replacements == 1)
    #expect(Set(wire.bearers).count == 2)
    #expect(wire.bearers.count == 1_000)
  }

  @Test("A token that a fresh one does not mend parks, and tells of the clock")
  func stillExpired() async {
    let wire = ScriptedConnections()
    wire.respond = { _, _ in .reason(403, "ExpiredProviderToken") }
    time.pass(60)
    let sender = sender(wire)
    let first = await sender.send(push).reply
    let why = "ExpiredProviderToken: clock skew: the provider's clock differs from this machine's by -60 s"
    #expect(first == .park(reason: why))
    #expect(wire.bearers.count == 2)
    // Another is not made within 20 minutes.
    #expect(await sender.send(push).reply == first)
    #expect(wire.bearers.count == 3)
    #expect(Set(wire.bearers).count == 2)
  }

  @Test(
    "What a new connection mends keeps its token", arguments: ["TooManyProviderTokenUpdates", "UnrelatedKeyIdInToken"])
  func reconnect(_ reason: String) async {
    let status = reason == "UnrelatedKeyIdInToken" ? 403 : 429
    let wire = ScriptedConnections(.reason(status, reason))
    #expect(await sender(wire).send(push).reply == .accepted(id: "ID"))
    #expect(wire.connections == [0, 1])
    #expect(Set(wire.bearers).count == 1)

    let stubborn = ScriptedConnections(.reason(status, reason), .reason(status, reason))
    guard case .park(let why) = await sender(stubborn).send(push).reply else {
      Issue.record("not parked")
      return
    }
    #expect(why.hasPrefix(reason))
  }

  @Test("A refused credential parks and names key and team, which are easily swapped")
  func invalid() async {
    let reply = await sender(ScriptedConnections(.reason(403, "InvalidProviderToken"))).send(push).reply
    #expect(reply == .park(reason: "InvalidProviderToken: key id KEYKEYKEY0, team id TEAMTEAM00, production"))
    #expect(reply.label == "InvalidProviderToken")
  }

  @Test("After too long, the queue sends again in place of the sender")
  func budget() async {
    let wire = ScriptedConnections()
    wire.respond = { [time] _, _ in
      time.pass(6)
      return .reason(429, "TooManyProviderTokenUpdates")
    }
    #expect(await sender(wire).send(push).reply == .again(reason: "TooManyProviderTokenUpdates", minimum: 0))
    #expect(wire.replacements == 1)
  }

  @Test("Room, flight and age are those of both ways; closing closes both")
  func gauges() async {
    let (proven, unproven) = (ScriptedConnections(), ScriptedConnections())
    (proven.inFlight, unproven.inFlight) = (3, 4)
    (proven.freeCapacity, unproven.freeCapacity) = (10, 2)
    let sender = sender(proven, unproven)
    #expect((sender.freeCapacity, sender.inFlight, sender.connectionCount) == (12, 7, 2))
    #expect(sender.credentialAge == nil)
    _ = await sender.send(push)
    time.pass(9)
    #expect(sender.credentialAge == 9)
    await sender.close()
    #expect(proven.isDrained && unproven.isDrained)
  }
}

@Suite("Answers that do not come")
struct TransportReplyTests {
  private func connect(_ step: ConnectFailure.Step) -> Http2Failure { .connect(ConnectFailure(step: step, text: "x")) }

  @Test("What the provider cannot have seen counts for nothing", arguments: [Route.apnsProduction, .fcm])
  func untouched(_ route: Route) {
    let failures: [Http2Failure] = [
      .refused, connect(.dns), connect(.tcp), connect(.tls), connect(.timeout), connect(.settings),
    ]
    for failure in failures {
      let isUntouched = if case .untouched = Reply(failure, route: route) { true } else { false }
      #expect(isUntouched, "\(failure)")
      #expect(failure.isUnprocessed)
    }
  }

  @Test("What no stream came free for is anybody's", arguments: [Http2Failure.overloaded, .timedOut(sent: false)])
  func crowdedOut(_ failure: Http2Failure) {
    let isCrowdedOut = if case .crowdedOut = Reply(failure, route: .fcm) { true } else { false }
    #expect(isCrowdedOut)
    #expect(failure.isUnprocessed)
  }

  @Test("What it may have seen is an attempt, after its pause")
  func again() {
    for failure in [Http2Failure.timedOut(sent: true), .reset(2), .goneAway("Shutdown"), .connectionLost] {
      for (route, pause) in [(Route.apnsSandbox, Int64(0)), (.fcm, 10_000)] {
        guard case .again(let reason, pause, isUnknown: true) = Reply(failure, route: route) else {
          Issue.record("\(failure)")
          continue
        }
        #expect(!reason.isEmpty)
      }
    }
  }

  @Test("A certificate without trust parks: nothing may be sent, and somebody must look")
  func trust() {
    #expect(Reply(connect(.tlsTrust), route: .fcm) == .park(reason: "tls: TLS trust: x"))
  }
}
