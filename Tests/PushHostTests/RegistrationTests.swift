import Foundation
import Json
import Testing

@testable import PushHost

@Suite struct RegistrationTests {
  private let scratch = ScratchFolder()
  private let clock = ManualClock()
  private let gateway: PlayedGateway

  init() { gateway = PlayedGateway(clock: clock.clock) }

  private static let wish = RegistrationParameters(
    token: .android(String(repeating: "a", count: 40)))
  private static let post = "POST /v1/devices"

  private func host(
    _ state: StateFolder? = nil,
    isPaired: @escaping @Sendable (String) async -> Bool = { _ in true }
  ) throws -> Registrations {
    let state = try state ?? scratch.open()
    return Registrations(
      gateway: gateway.client(), state: state, clock: clock.clock, isPaired: isPaired)
  }

  private func kept() async throws -> PhoneBook { try await scratch.open().phones() }

  @Test func `A registration is kept with its lease of seven days, and renewed by the next`()
    async throws
  {
    let phones = try host()
    let secret = try #require(DeviceSecret([1, 2, 3]))
    let wish = RegistrationParameters(
      token: .ios("aabb", .production), preferences: PhonePreferences(awayOnly: false, sound: false)
    )
    #expect(await phones.register(deviceId: "d", wish, secret: secret) == .registered("r1"))
    let first = Registration(
      deviceId: "d", registrationId: "r1", platform: "ios", preferences: wish.preferences,
      registeredAt: clock.now,
      expiresAt: clock.now + 604_800_000, secret: secret)
    #expect(try await kept().registrations == [first])
    #expect(first.isLive(at: clock.now + 604_799_999))
    #expect(!first.isLive(at: clock.now + 604_800_000))
    clock.advance(1_000)
    #expect(await phones.register(deviceId: "d", Self.wish) == .registered("r1"))
    let second = try #require(try await kept().registrations.first)
    #expect(second.registeredAt == clock.now)
    #expect(second.preferences == PhonePreferences(awayOnly: true, sound: true))
    #expect(second.secret == nil)
    #expect(try await kept().registrations.count == 1)
    #expect(try await phones.all().get() == [second])
  }

  @Test func `A device registers at most 10 times a minute, and what it had stays`() async throws {
    let phones = try host()
    for _ in 0..<10 {
      #expect(await phones.register(deviceId: "d", Self.wish) == .registered("r1"))
    }
    let before = try await kept()
    #expect(await phones.register(deviceId: "d", Self.wish) == .refused(.throttled))
    #expect(await phones.register(deviceId: "other", Self.wish) == .registered("r2"))
    #expect(try await kept().registrations.first == before.registrations.first)
    #expect(gateway.count(Self.post) == 11)
    clock.advance(59_999)
    #expect(await phones.register(deviceId: "d", Self.wish) == .refused(.throttled))
    clock.advance(1)
    #expect(await phones.register(deviceId: "d", Self.wish) == .registered("r1"))
  }

  @Test(arguments: [
    (PlayedGateway.Play.unreachable(.noConnection), RegistrationRefusal.gatewayUnreachable),
    (.reply(.error(503, "busy")), .gatewayUnreachable),
    (.reply(.error(409, "too_many_devices")), .gatewayRejected),
    (.reply(.error(413, "request_too_large")), .gatewayRejected),
    (.reply(.error(429, "rate_limited")), .throttled),
  ])
  func `What the gateway refuses is told in the contract's words, and nothing is kept`(
    play: PlayedGateway.Play, refusal: RegistrationRefusal
  ) async throws {
    gateway.play(Self.post, play)
    let phones = try host()
    guard case .refused(refusal, .some) = await phones.register(deviceId: "d", Self.wish) else {
      Issue.record("another outcome")
      return
    }
    #expect(try await kept() == PhoneBook())
  }

  @Test func `A device that is not paired is not registered`() async throws {
    let phones = try host { _ in false }
    #expect(await phones.register(deviceId: "d", Self.wish) == .refused(.notMobile))
    #expect(gateway.routes.isEmpty)
  }

  @Test func `A device that is unpaired meanwhile is deleted at the gateway again`() async throws {
    let answers = Guarded([true, false])
    let phones = try host { _ in answers.withLock { $0.removeFirst() } }
    #expect(await phones.register(deviceId: "d", Self.wish) == .refused(.notMobile))
    #expect(await phones.drain())
    #expect(gateway.routes.suffix(2) == [Self.post, "DELETE /v1/devices/r1"])
    #expect(try await kept() == PhoneBook())
  }

  @Test func `What cannot be written down is deleted at the gateway again`() async throws {
    let phones = try host(scratch.open(stoppingAt: .opened, of: "phones.json"))
    #expect(await phones.register(deviceId: "d", Self.wish) == .refused(.storageFailed))
    await phones.drain()
    #expect(gateway.routes.suffix(2) == [Self.post, "DELETE /v1/devices/r1"])
    #expect(gateway.state.withLock { $0.devices.isEmpty })
  }

  @Test
  func `A renewal that cannot be written down leaves the earlier registration, here and there`()
    async throws
  {
    #expect(await (try host()).register(deviceId: "d", Self.wish) == .registered("r1"))
    let before = try await kept()
    clock.advance(1)
    let phones = try host(scratch.open(stoppingAt: .opened, of: "phones.json"))
    #expect(await phones.register(deviceId: "d", Self.wish) == .refused(.storageFailed))
    #expect(await phones.drain())
    #expect(try await kept() == before)
    #expect(gateway.state.withLock { $0.devices.count } == 1)
  }

  @Test func `Work for one device goes one after the other; that for another does not wait`()
    async throws
  {
    let phones = try host()
    _ = await phones.register(deviceId: "warm", Self.wish)
    gateway.hold()
    let before = gateway.routes.count
    let first = Task { await phones.register(deviceId: "d", Self.wish) }
    await gateway.calls(before + 1)
    let second = Task { await phones.register(deviceId: "d", Self.wish) }
    let other = Task { await phones.register(deviceId: "e", Self.wish) }
    await gateway.calls(before + 2)
    let devices = gateway.bodies(Self.post).suffix(2).map { $0["deviceId"]?.string }
    #expect(devices == ["d", "e"])
    gateway.release()
    #expect(await first.value == .registered("r2"))
    #expect(await second.value == .registered("r2"))
    #expect(await other.value == .registered("r3"))
  }

  @Test func `Work for one device goes one after the other in all processes of the folder`() async throws {
    let client = gateway.client()
    // What two processes have of their own.
    let one = Registrations(gateway: client, state: try scratch.open(), clock: clock.clock)
    let two = Registrations(gateway: client, state: try scratch.open(), clock: clock.clock)
    _ = await one.register(deviceId: "warm", Self.wish)
    gateway.hold()
    let before = gateway.routes.count
    let first = Task { await one.register(deviceId: "d", Self.wish) }
    await gateway.calls(before + 1)
    let second = Task { await two.register(deviceId: "d", Self.wish) }
    for number in 0..<5 {
      // Each has the time to come this far while the second waits.
      let other = Task { await two.register(deviceId: "other-\(number)", Self.wish) }
      await gateway.calls(before + 2 + number)
      other.cancel()
    }
    let devices = gateway.bodies(Self.post).dropFirst().map { $0["deviceId"]?.string }
    #expect(devices == ["d", "other-0", "other-1", "other-2", "other-3", "other-4"])
    gateway.release()
    #expect(await first.value == .registered("r2"))
    #expect(await second.value == .registered("r2"))
  }

  @Test(arguments: [
    (#"{"platform":"android","token":"TOKEN"}"#, nil),
    (
      #"{"platform":"ios","token":"aabb","apnsEnvironment":"sandbox","filter":{"awayOnly":false,"sound":false}}"#,
      nil
    ),
    (#"{"platform":"android","token":"TOKEN","filter":{}}"#, nil),
    (
      #"{"platform":"android","token":"TOKEN","deviceId":"other"}"#,
      "have a member that is not known"
    ),
    (
      #"{"platform":"android","token":"TOKEN","filter":{"categories":true}}"#,
      "have a filter flag that is not known"
    ),
    (
      #"{"platform":"android","token":"TOKEN","filter":{"sound":1}}"#,
      "have a filter flag that is neither true nor false"
    ),
    (#"{"platform":"android","token":"TOKEN","filter":null}"#, "have a filter that is no object"),
    (
      #"{"platform":"android","token":"TOKEN","apnsEnvironment":"sandbox"}"#,
      "have an apnsEnvironment, which is for ios only"
    ),
    (#"{"platform":"android","token":"short"}"#, "have a token that is none of FCM's"),
    (
      #"{"platform":"ios","token":"aab","apnsEnvironment":"sandbox"}"#,
      "have a token that is none of Apple's"
    ),
    (#"{"platform":"ios","token":"aabb"}"#, "have no apnsEnvironment, sandbox or production"),
    (#"{"platform":"windows","token":"aabb"}"#, "have no platform, ios or android"),
    (#"{"platform":"android"}"#, "have no token"), ("[]", "must be a JSON object"),
    ("", "must be a JSON object"),
    (#"{"platform":"android","token":"TOKEN","token":"TOKEN"}"#, "must be a JSON object"),
  ])
  func `A phone's parameters are read strictly`(json: String, fault: String?) throws {
    let text = json.replacing("TOKEN", with: String(repeating: "t", count: 40))
    let outcome = Result { () throws(ParameterFault) in
      try RegistrationParameters(json: Array(text.utf8))
    }
    #expect(outcome.failure?.description == fault)
    #expect(!"\(outcome)".contains("tttt"))
  }

  @Test func `Registrations without an end, and a file that is none, are let go`() async throws {
    let row =
      #"{"deviceId":"d","registrationId":"r1","platform":"ios","filter":{"awayOnly":true,"sound":true},"registeredAt":1"#
    try scratch.write("phones.json", #"{"v":1,"registrations":["# + row + #"}],"deletes":[]}"#)
    #expect(try await kept() == PhoneBook())
    try scratch.write(
      "phones.json", #"{"v":1,"registrations":["# + row + #","expiresAt":2}],"deletes":[]}"#)
    #expect(try await kept().registrations.map(\.deviceId) == ["d"])
    try scratch.write("phones.json", #"{"v":1,"registrations":["#)
    #expect(await (try host()).register(deviceId: "e", Self.wish) == .registered("r1"))
    #expect(try await kept().registrations.map(\.deviceId) == ["e"])
    #expect(FileManager.default.fileExists(atPath: scratch.path + "/phones.json.broken"))
  }
}
