import Foundation
import Testing

@testable import PushHost

@Suite struct OutboxTests {
  private let scratch = ScratchFolder()
  private let clock = ManualClock()
  private let gateway: PlayedGateway

  init() { gateway = PlayedGateway(clock: clock.clock) }

  private static let wish = RegistrationParameters(
    token: .android(String(repeating: "a", count: 40)))

  private func host(_ state: StateFolder? = nil) throws -> Registrations {
    Registrations(gateway: gateway.client(), state: try state ?? scratch.open(), clock: clock.clock)
  }

  private func kept() async throws -> PhoneBook { try await scratch.open().phones() }

  /// A host with so many phones, d1 as r1 and so on.
  private func host(phones: Int) async throws -> Registrations {
    let host = try host()
    for number in 1...phones {
      #expect(await host.register(deviceId: "d\(number)", Self.wish) == .registered("r\(number)"))
    }
    return host
  }

  @Test func `A phone that is let go is deleted at the gateway`() async throws {
    let host = try await host(phones: 2)
    #expect(try await host.unregister(deviceId: "d1").get())
    #expect(await host.drain())
    #expect(try await host.unregister(deviceId: "d1").get() == false)
    #expect(gateway.state.withLock { $0.devices.map(\.id) } == ["r2"])
    #expect(try await kept().registrations.map(\.deviceId) == ["d2"])
    #expect(try await kept().farewells.isEmpty)
  }

  @Test(arguments: FileStep.allCases)
  func `A process that is killed while it lets a phone go loses neither the phone nor the delete`(
    step: FileStep
  )
    async throws
  {
    _ = try await host(phones: 1)
    let killed = try host(scratch.open(stoppingAt: step, of: "phones.json"))
    #expect(await killed.unregister(deviceId: "d1").failure != nil)
    let book = try await kept()
    let isGone = [.renamed, .folderSynced].contains(step)
    #expect(book.registrations.isEmpty == isGone)
    #expect(book.farewells.count == (isGone ? 1 : 0))
    // The next run finishes it.
    let next = try host()
    #expect(await next.drain())
    #expect(gateway.state.withLock { $0.devices.isEmpty } == isGone)
    #expect(try await kept().farewells.isEmpty)
  }

  @Test(arguments: FileStep.allCases)
  func `A process that is killed after the gateway's yes asks once more and is content with 404`(
    step: FileStep
  )
    async throws
  {
    _ = try await host(phones: 1)
    let killed = try host(scratch.open(stoppingAt: step, of: "phones.json", after: 1))
    _ = await killed.unregister(deviceId: "d1")
    _ = await killed.drain()
    #expect(gateway.state.withLock { $0.devices.isEmpty })
    #expect(try await kept().farewells.isEmpty == [.renamed, .folderSynced].contains(step))
    await killed.close()
    let next = try host()
    #expect(await next.drain())
    #expect(try await kept() == PhoneBook())
  }

  @Test(arguments: FileStep.allCases)
  func `A process that is killed while it keeps a registration has it or has it not`(step: FileStep)
    async throws
  {
    let killed = try host(scratch.open(stoppingAt: step, of: "phones.json"))
    #expect(await killed.register(deviceId: "d", Self.wish) == .refused(.storageFailed))
    await killed.close()
    #expect(try await kept().registrations.isEmpty == ![.renamed, .folderSynced].contains(step))
    #expect(await (try host()).register(deviceId: "d", Self.wish).isRegistered)
    #expect(try await kept().registrations.count == 1)
  }

  @Test(arguments: [
    PlayedGateway.Play.reply(.error(401, "invalid_token")), .reply(.error(403, "http")),
    .unreachable(.noConnection),
    .reply(.error(503, "busy")), .reply(.error(429, "rate_limited")),
    .reply(HttpReply(status: 302)),
    .reply(HttpReply(status: 200, body: Array("<html>".utf8))),
  ])
  func `No failure drops a delete`(play: PlayedGateway.Play) async throws {
    let host = try await host(phones: 1)
    gateway.play("DELETE /v1/devices/r1", play, play, play)
    _ = await host.unregister(deviceId: "d1")
    #expect(await host.drain() == false)
    #expect(
      try await kept().farewells == [PhoneBook.Farewell(registrationId: "r1", deviceId: "d1")])
    await host.close()
    // Whatever is remembered of the refusal, a later start gets it through.
    gateway.state.withLock { $0.plays = [:] }
    #expect(await (try self.host()).drain())
    #expect(gateway.state.withLock { $0.devices.isEmpty })
  }

  @Test
  func
    `What cannot be deleted is tried again after 30 s, doubling to 10 min, and from 30 s after a success`()
    async throws
  {
    let host = try await host(phones: 2)
    let down = PlayedGateway.Play.unreachable(.noConnection)
    gateway.state.withLock { $0.plays["DELETE /v1/devices/r1"] = Array(repeating: down, count: 7) }
    _ = await host.unregister(deviceId: "d1")
    var expected: [Int64] = []
    for pause in [30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000] as [Int64] {
      expected.append(pause)
      await clock.sleeps(expected.count)
      #expect(clock.slept == expected)
      clock.advance(pause)
    }
    #expect(await host.drain())
    #expect(gateway.count("DELETE /v1/devices/r1") == 8)
    gateway.play("DELETE /v1/devices/r2", down)
    _ = await host.unregister(deviceId: "d2")
    await clock.sleeps(8)
    #expect(clock.slept.last == 30_000)
    await host.close()
  }

  @Test func `What an earlier run left is begun with at the start`() async throws {
    let host = try await host(phones: 1)
    gateway.play("DELETE /v1/devices/r1", .unreachable(.noConnection))
    _ = await host.unregister(deviceId: "d1")
    await clock.sleeps(1)
    await host.close()
    let before = gateway.routes.count
    let next = try self.host()
    await next.start()
    // A client of its own proves first: challenge, session, delete.
    await gateway.calls(before + 3)
    #expect(gateway.routes.last == "DELETE /v1/devices/r1")
    #expect(await next.drain())
    #expect(gateway.state.withLock { $0.devices.isEmpty })
  }

  @Test func `A delete that falls due during a drain goes with it`() async throws {
    let host = try await host(phones: 2)
    let before = gateway.routes.count
    gateway.hold()
    _ = await host.unregister(deviceId: "d1")
    await gateway.calls(before + 1)
    let drain = Task { await host.drain() }
    _ = await host.unregister(deviceId: "d2")
    gateway.release()
    #expect(await drain.value)
    #expect(gateway.state.withLock { $0.devices.isEmpty })
    #expect(clock.slept.isEmpty)
  }

  @Test func `A registration settles the device's earlier delete first`() async throws {
    let host = try await host(phones: 1)
    gateway.play("DELETE /v1/devices/r1", .unreachable(.noConnection), .unreachable(.noConnection))
    _ = await host.unregister(deviceId: "d1")
    #expect(await host.drain() == false || true)
    gateway.state.withLock { $0.plays["DELETE /v1/devices/r1"] = [.unreachable(.noConnection)] }
    let posts = gateway.count("POST /v1/devices")
    #expect(
      await host.register(deviceId: "d1", Self.wish)
        == .refused(.gatewayUnreachable, .unreachable(.noConnection)))
    #expect(gateway.count("POST /v1/devices") == posts)
    #expect(await host.register(deviceId: "d1", Self.wish) == .registered("r1"))
    #expect(gateway.routes.suffix(2) == ["DELETE /v1/devices/r1", "POST /v1/devices"])
    #expect(try await kept().farewells.isEmpty)
    #expect(await host.drain())
    #expect(gateway.state.withLock { $0.devices.map(\.id) } == ["r1"])
    await host.close()
  }

  @Test func `One device's stubborn delete does not keep the others waiting`() async throws {
    let host = try await host(phones: 2)
    let no = PlayedGateway.Play.reply(.error(409, "http"))
    gateway.play("DELETE /v1/devices/r1", no, no, no, no)
    _ = await host.unregister(deviceId: "d1")
    _ = await host.unregister(deviceId: "d2")
    #expect(await host.drain() == false)
    #expect(gateway.state.withLock { $0.devices.map(\.id) } == ["r1"])
    await host.close()
  }

  @Test func `What an observer saw is dropped; what the phone renewed since then stays`()
    async throws
  {
    let host = try await host(phones: 1)
    let observed = try #require(try await kept().registrations.first)
    clock.advance(1)
    _ = await host.register(deviceId: "d1", Self.wish)
    await host.drop(observed)
    let renewed = try #require(try await kept().registrations.first)
    await host.drop(renewed)
    #expect(try await kept() == PhoneBook())
  }
}

extension RegistrationOutcome {
  var isRegistered: Bool { if case .registered = self { true } else { false } }
}
