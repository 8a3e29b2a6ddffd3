import Foundation
import Json
import Testing

@testable import PushHost

@Suite struct DispatcherTests {
  private let scratch = ScratchFolder()
  private let clock = ManualClock()
  private let gateway: PlayedGateway
  private let lines = Guarded<[String]>([])

  init() { gateway = PlayedGateway(clock: clock.clock) }

  private static let send = "POST /v1/send"
  private static let down = PlayedGateway.Play.unreachable(.noConnection)

  private func host() throws -> Registrations {
    Registrations(gateway: gateway.client(), state: try scratch.open(), clock: clock.clock)
  }

  /// Phones a, b, … with these preferences.
  private func phones(_ preferences: PhonePreferences...) async throws -> Registrations {
    let phones = try host()
    for (index, preference) in preferences.enumerated() {
      let wish = RegistrationParameters(
        token: .android(String(repeating: "a", count: 40)), preferences: preference)
      #expect(
        await phones.register(deviceId: "d\(index + 1)", wish) == .registered("r\(index + 1)"))
    }
    return phones
  }

  private func dispatcher(
    _ phones: Registrations, history: DismissalHistory? = nil, presence: DesktopPresence = .unknown
  ) -> Dispatcher {
    let lines = lines
    return Dispatcher(phones: phones, history: history, clock: clock.clock, presence: { presence }) { line in
      lines.withLock { $0.append(line) }
    }
  }

  private func alert(_ seq: Int64 = 1, id: String? = "n") -> HostEvent {
    var event = HostEvent(
      source: "agent-task-complete", seq: seq, epoch: "e-1", title: "  Done \n now ", body: "Text")
    event.agentState = "done"
    event.notificationId = id
    event.worktreeId = "w\(seq)"
    return event
  }

  private func dismissal(_ seq: Int64) -> HostEvent {
    var event = alert(seq)
    event.isDismissal = true
    return event
  }

  private var recipients: [[String]] {
    gateway.bodies(Self.send).map { ($0["registrationIds"]?.array ?? []).compactMap(\.string) }
  }

  @Test func `An event reaches the phones, tidied, with its deadline`() async throws {
    let dispatcher = dispatcher(try await phones(PhonePreferences()))
    dispatcher.enqueue(alert())
    await dispatcher.close()
    let sent = try #require(gateway.bodies(Self.send).first?["notification"])
    #expect(
      String(decoding: JsonText.render(sent), as: UTF8.self) == """
        {"notificationId":"n","notificationSeq":1,"notificationEpoch":"e-1","source":"agent-task-complete",\
        "agentState":"finished","title":"Done now","body":"Text","worktreeId":"w1","expiresAt":\(clock.now + 300_000)}
        """)
    #expect(lines.withLock { $0.isEmpty })
  }

  @Test func `Phones that are for when nobody is there hear nothing while somebody is`()
    async throws
  {
    let phones = try await phones(
      PhonePreferences(awayOnly: true), PhonePreferences(awayOnly: false))
    for (presence, expected) in [
      (DesktopPresence(idle: 0, isLocked: false), [["r2"]]),
      (DesktopPresence(idle: 180_000, isLocked: false), [["r1", "r2"]]),
      (DesktopPresence(idle: 0, isLocked: true), [["r1", "r2"]]), (.unknown, [["r1", "r2"]]),
    ] {
      let before = recipients.count
      let dispatcher = dispatcher(phones, presence: presence)
      dispatcher.enqueue(alert())
      await dispatcher.close()
      #expect(Array(recipients.dropFirst(before)) == expected)
    }
  }

  @Test func `A dismissal goes to every phone, whatever it wants and whoever is there`()
    async throws
  {
    let phones = try await phones(
      PhonePreferences(awayOnly: true, sound: false), PhonePreferences(sound: true))
    let dispatcher = dispatcher(phones, presence: DesktopPresence(idle: 0, isLocked: false))
    dispatcher.enqueue(dismissal(2))
    await dispatcher.close()
    #expect(recipients == [["r1", "r2"]])
    let sent = try #require(gateway.bodies(Self.send).first?["notification"])
    #expect(sent["kind"]?.string == "dismiss")
    #expect(sent["sound"] == nil)
    #expect(sent["body"]?.string == "")
  }

  @Test func `A burst about one workspace is one alert a phone`() async throws {
    let dispatcher = dispatcher(try await phones(PhonePreferences()))
    for seq in 1...4 {
      var event = alert(Int64(seq))
      event.worktreeId = "same"
      event.emittedAt = Int64(seq) * 2_000
      dispatcher.enqueue(event)
    }
    await dispatcher.close()
    #expect(
      gateway.bodies(Self.send).compactMap { $0["notification"]?["notificationSeq"]?.integer }
        .sorted() == [1, 4])
  }

  @Test func `A lease that ran out is the end of alerts and dismissals`() async throws {
    let phones = try await phones(PhonePreferences())
    clock.advance(Registration.lease)
    let dispatcher = dispatcher(phones)
    dispatcher.enqueue(alert())
    dispatcher.enqueue(dismissal(2))
    await dispatcher.close()
    #expect(recipients.isEmpty)
  }

  @Test func `What did not reach the gateway is repeated once after 2 s, to the letter`()
    async throws
  {
    let dispatcher = dispatcher(try await phones(PhonePreferences(), PhonePreferences()))
    gateway.play(Self.send, Self.down)
    dispatcher.enqueue(alert())
    await clock.sleeps(1)
    #expect(clock.slept == [2_000])
    clock.advance(2_000)
    await dispatcher.close()
    let bodies = gateway.bodies(Self.send)
    #expect(bodies.count == 2)
    #expect(bodies.first == bodies.last)
    #expect(lines.withLock { $0.isEmpty })
  }

  @Test func `A second failure is the last, and is told`() async throws {
    let dispatcher = dispatcher(try await phones(PhonePreferences(), PhonePreferences()))
    gateway.play(Self.send, Self.down, .reply(.error(503, "busy")))
    dispatcher.enqueue(alert())
    await clock.sleeps(1)
    clock.advance(2_000)
    await dispatcher.close()
    #expect(gateway.count(Self.send) == 2)
    let line = "pushes that did not go out: 1 unreachable (503)"
    #expect(lines.withLock { $0 } == [line, line])
  }

  @Test(arguments: [
    PlayedGateway.Play.reply(.error(400, "invalid_request")), .reply(.error(429, "rate_limited")),
    .reply(.error(413, "request_too_large")),
  ])
  func `What was refused or throttled is not repeated`(play: PlayedGateway.Play) async throws {
    let dispatcher = dispatcher(try await phones(PhonePreferences()))
    gateway.play(Self.send, play)
    dispatcher.enqueue(alert())
    await dispatcher.close()
    #expect(gateway.count(Self.send) == 1)
    #expect(clock.slept.isEmpty)
    #expect(lines.withLock { $0.count } == 1)
  }

  @Test func `A repeat looks at the registrations again`() async throws {
    let phones = try await phones(PhonePreferences(), PhonePreferences())
    let dispatcher = dispatcher(phones)
    gateway.play(Self.send, Self.down)
    dispatcher.enqueue(alert())
    await clock.sleeps(1)
    _ = await phones.unregister(deviceId: "d1")
    await phones.drain()
    clock.advance(2_000)
    await dispatcher.close()
    #expect(recipients == [["r1", "r2"], ["r2"]])
  }

  @Test func `A repeat does not go to a phone whose lease ran out meanwhile`() async throws {
    let phones = try await phones(PhonePreferences())
    clock.advance(Registration.lease - 1_000)
    let dispatcher = dispatcher(phones)
    gateway.play(Self.send, Self.down)
    dispatcher.enqueue(alert())
    await clock.sleeps(1)
    clock.advance(2_000)
    await dispatcher.close()
    #expect(recipients == [["r1"]])
  }

  @Test func `A dead phone is dropped, and told`() async throws {
    let phones = try await phones(PhonePreferences(), PhonePreferences())
    gateway.state.withLock { $0.statuses["r1"] = "dead" }
    let dispatcher = dispatcher(phones)
    dispatcher.enqueue(alert())
    await dispatcher.close()
    #expect(try await phones.all().get().map(\.deviceId) == ["d2"])
    #expect(lines.withLock { $0 } == ["pushes that did not go out: 1 dead"])
    // Nothing is deleted at the gateway: the phone's next registration revives it there.
    #expect(try await scratch.open().phones().farewells.isEmpty)
  }

  @Test func `A phone that registered anew while its old token was called dead stays`() async throws {
    let phones = try await phones(PhonePreferences())
    gateway.state.withLock { $0.statuses["r1"] = "dead" }
    let dispatcher = dispatcher(phones)
    let before = gateway.routes.count
    gateway.hold()
    dispatcher.enqueue(alert())
    await gateway.calls(before + 1)
    // By another process of this host, since this one's requests wait.
    let renewed = try await scratch.open().phones().registrations[0]
    let later = Registration(
      deviceId: renewed.deviceId, registrationId: renewed.registrationId,
      platform: renewed.platform,
      preferences: renewed.preferences, registeredAt: renewed.registeredAt + 1,
      expiresAt: renewed.expiresAt + 1, secret: nil)
    try await scratch.open().changePhones { $0.keep(later) }
    gateway.release()
    await dispatcher.close()
    #expect(try await phones.all().get() == [later])
  }

  @Test func `What is shown and dismissed is written down before it is sent`() async throws {
    let phones = try await phones(PhonePreferences())
    let history = DismissalHistory(state: try scratch.open(), clock: clock.clock)
    let dispatcher = dispatcher(phones, history: history)
    gateway.play(
      Self.send, .reply(.error(400, "invalid_request")), .reply(.error(400, "invalid_request")))
    dispatcher.enqueue(alert(1))
    dispatcher.enqueue(dismissal(2))
    await dispatcher.close()
    let asked = [1, 2, 3].map { PushIdentity(notificationId: "n", epoch: "e-1", seq: $0) }
    #expect(try await history.getMissedSince(delivered: asked).get() == Array(asked.prefix(2)))
  }

  @Test func `What waited for as long as it lives is not sent, and a dismissal among it is remembered`() async throws {
    let phones = try await phones(PhonePreferences())
    let history = DismissalHistory(state: try scratch.open(), clock: clock.clock)
    let dispatcher = dispatcher(phones, history: history)
    let before = gateway.routes.count
    gateway.hold()
    for seq in 1...Int64(Dispatcher.mostUnderWay) + 1 { dispatcher.enqueue(alert(seq)) }
    await gateway.calls(before + Dispatcher.mostUnderWay)
    dispatcher.enqueue(alert(20, id: "late"))
    dispatcher.enqueue(dismissal(21))
    clock.advance(300_000)
    gateway.release()
    await dispatcher.close()
    let sent = gateway.bodies(Self.send).compactMap { $0["notification"]?["notificationSeq"]?.integer }
    #expect(sent.sorted() == Array(1...Int64(Dispatcher.mostUnderWay)))
    #expect(lines.withLock { $0.joined() }.contains("late"))
    let asked = PushIdentity(notificationId: "n", epoch: "e-1", seq: 1)
    #expect(try await history.getMissedSince(delivered: [asked]).get() == [asked])
  }

  @Test func `Requests that others hold up are not made once they are too late`() async throws {
    let phones = try host()
    for number in 1...3 {
      let wish = RegistrationParameters(token: .android(String(repeating: "a", count: 40)))
      _ = await phones.register(deviceId: "d\(number)", wish, secret: DeviceSecret([1]))
    }
    let dispatcher = dispatcher(phones)
    gateway.play(Self.send, .own, Self.down)
    dispatcher.enqueue(alert())
    await clock.sleeps(1)
    clock.advance(300_000)
    await dispatcher.close()
    // The second is not repeated, and the third not begun.
    #expect(recipients == [["r1"], ["r2"]])
    #expect(lines.withLock { $0.joined() }.contains("error"))
  }

  @Test func `A sealed phone's repeat is the same ciphertext`() async throws {
    let phones = try host()
    let wish = RegistrationParameters(token: .android(String(repeating: "a", count: 40)))
    _ = await phones.register(deviceId: "d", wish, secret: DeviceSecret([1, 2, 3]))
    let dispatcher = dispatcher(phones)
    gateway.play(Self.send, Self.down)
    dispatcher.enqueue(alert())
    await clock.sleeps(1)
    clock.advance(2_000)
    await dispatcher.close()
    let bodies = gateway.bodies(Self.send)
    #expect(bodies.count == 2)
    #expect(bodies.first == bodies.last)
    let sent = try #require(bodies.first?["notification"])
    #expect(sent["title"]?.string == "Finished")
    #expect(sent["body"]?.string == "")
    #expect(sent["worktreeId"] == nil)
    #expect(sent["paneKey"]?.string?.hasPrefix("e2e1:") == true)
  }

  @Test func `Handing over never waits, and what is too much is dropped and told`() async throws {
    let phones = try await phones(PhonePreferences())
    let dispatcher = dispatcher(phones)
    gateway.hold()
    let many = Dispatcher.mostWaiting + Dispatcher.mostUnderWay + 50
    for seq in 1...many { dispatcher.enqueue(alert(Int64(seq))) }
    gateway.release()
    await dispatcher.close()
    #expect(gateway.count(Self.send) < many)
    #expect(gateway.count(Self.send) >= Dispatcher.mostWaiting)
    #expect(lines.withLock { $0.joined() }.contains("dropped"))
  }

  @Test func `Failures of one minute are one line, and the rest is told at the end`() async throws {
    let dispatcher = dispatcher(try await phones(PhonePreferences()))
    gateway.state.withLock {
      $0.plays[Self.send] = Array(repeating: .reply(.error(400, "invalid_request")), count: 20)
    }
    for seq in 1...20 { dispatcher.enqueue(alert(Int64(seq))) }
    await dispatcher.close()
    let told = lines.withLock { $0 }
    #expect(told.count == 2)
    #expect(told.first == "pushes that did not go out: 1 rejected")
    #expect(told.last == "pushes that did not go out: 19 rejected")
    #expect(!told.joined().contains("Done"))
  }

  @Test func `What goes wrong within a minute of a line is told when the minute is over`() async throws {
    let phones = try await phones(PhonePreferences())
    let (told, tell) = AsyncStream<String>.makeStream()
    let dispatcher = Dispatcher(phones: phones, history: nil, clock: clock.clock, presence: { .unknown }) {
      tell.yield($0)
    }
    let no = PlayedGateway.Play.reply(.error(400, "invalid_request"))
    gateway.play(Self.send, no, no)
    var lines = told.makeAsyncIterator()
    dispatcher.enqueue(alert(1))
    #expect(await lines.next() == "pushes that did not go out: 1 rejected")
    clock.advance(20_000)
    dispatcher.enqueue(alert(2))
    await clock.sleeps(1)
    #expect(clock.slept == [40_000])
    clock.advance(39_999)
    clock.advance(1)
    #expect(await lines.next() == "pushes that did not go out: 1 rejected")
    await dispatcher.close()
  }

  @Test func `An event that says nothing of use is never sent, and stops nothing`() async throws {
    let dispatcher = dispatcher(try await phones(PhonePreferences()))
    var (noNumber, noEpoch, unknown, unwanted, working) = (alert(1), alert(2), alert(3), alert(4), alert(5))
    noNumber.seq = nil
    noEpoch.epoch = nil
    unknown.source = "mail"
    unwanted.isAllowed = false
    working.agentState = "working"
    var odd = alert(6)
    odd.emittedAt = .min
    odd.title = String(repeating: " ", count: 4_096) + "never seen"
    for event in [noNumber, noEpoch, unknown, unwanted, working, odd] { dispatcher.enqueue(event) }
    await dispatcher.close()
    #expect(gateway.bodies(Self.send).map { $0["notification"]?["notificationSeq"]?.integer } == [6])
    #expect(gateway.bodies(Self.send).first?["notification"]?["title"]?.string == "Finished")
  }

  @Test func `Twenty-one phones are two requests, and each keeps its retry`() async throws {
    let phones = try await phones()
    for number in 1...21 {
      let wish = RegistrationParameters(token: .android(String(repeating: "a", count: 40)))
      #expect(await phones.register(deviceId: "d\(number)", wish).isRegistered)
    }
    let dispatcher = dispatcher(phones)
    gateway.play(Self.send, Self.down, .own, Self.down)
    dispatcher.enqueue(alert())
    await clock.sleeps(1)
    clock.advance(2_000)
    await clock.sleeps(2)
    clock.advance(2_000)
    await dispatcher.close()
    #expect(recipients.map(\.count) == [20, 20, 1, 1])
    #expect(Set(recipients.flatMap { $0 }).count == 21)
    #expect(Set(gateway.bodies(Self.send).map { JsonText.render($0["notification"] ?? .null) }).count == 1)
  }
}
