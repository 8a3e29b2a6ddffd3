import Testing

@testable import PushHost

@Suite struct ExaminingTests {
  private let clock = ManualClock()
  private let gateway: PlayedGateway

  init() { gateway = PlayedGateway(clock: clock.clock) }

  private func client(origin: String? = nil, ahead: Int64 = 0) -> GatewayClient {
    let clock = clock
    let off = HostClock(wall: { clock.now + ahead }, uptime: clock.clock.uptime, sleep: clock.clock.sleep)
    return GatewayClient(
      origin: origin ?? gateway.origin, keys: PlayedGateway.keys, transport: gateway, clock: off)
  }

  private func steps(_ findings: [Finding]) -> [String] {
    findings.map { "\($0.isWell ? "" : "!")\($0.step.rawValue)" }
  }

  @Test func `Where all is well each step says so, and the session is kept`() async throws {
    let client = client()
    #expect(steps(await client.examine()) == ["connection", "clock", "proof", "session", "devices"])
    #expect(try await client.devices().get().isEmpty)
    #expect(gateway.count("POST /v1/host/challenge") == 1)
  }

  @Test(arguments: [(60_000, "60 s ahead"), (-60_000, "60 s behind")] as [(Int64, String)])
  func `A clock that is off is told with how far`(ahead: Int64, words: String) async {
    let findings = await client(ahead: ahead).examine()
    #expect(steps(findings) == ["connection", "!clock", "!proof"])
    #expect(findings[1].message.contains(words))
  }

  @Test func `A gateway of another name is told as such`() async {
    let findings = await client(origin: "https://other.example").examine()
    #expect(steps(findings) == ["connection", "clock", "!proof"])
    #expect(findings[2].message.contains("calls itself by another address"))
  }

  @Test(arguments: [
    (
      PlayedGateway.Play.unreachable(.tls(.untrusted)),
      "TLS with https://push.test.example failed: its certificate is not trusted"
    ),
    (.unreachable(.tls(.outdated)), "certificate is out of date. Is this machine's clock right?"),
    (.unreachable(.tls(.otherName)), "its certificate is for another name"),
    (.unreachable(.tls(.noAgreement)), "it may speak none"),
    (.unreachable(.unknownName), "https://push.test.example cannot be reached: its name cannot be resolved. Is it"),
    (.unreachable(.refused), "https://push.test.example cannot be reached: connection refused. Is the port right"),
    (.unreachable(.noConnection), "is there a network"),
    (.unreachable(.deadline), "https://push.test.example timed out: no answer in 15 s"),
    (.reply(HttpReply(status: 200, body: Array("<html>".utf8))), "sign-in page"),
    (
      .reply(HttpReply(status: 404, body: Array("<html>".utf8))),
      "https://push.test.example answers 404, but not as a push gateway"
    ),
    (.reply(HttpReply(status: 501)), "https://push.test.example answers 501, but not as a push gateway"),
    (.reply(.error(503, "validation_only")), "(503): whoever runs it has put it in validation mode"),
    (.reply(.error(500, "internal")), "https://push.test.example has trouble of its own: internal (500)"),
    (.reply(HttpReply(status: 301)), "use the address that it leads to"),
    (.reply(.error(429, "rate_limited")), "try again"),
  ])
  func `What keeps the connection from being one is told with advice`(play: PlayedGateway.Play, words: String) async {
    gateway.play("POST /v1/host/challenge", play)
    let findings = await client().examine()
    #expect(steps(findings) == ["!connection"])
    #expect(findings.first?.message.contains(words) == true, "\(findings)")
  }

  @Test func `A phone that no push reaches is named as something to mend`() async throws {
    let client = client()
    let phone = try await client.register(deviceId: "old-phone", token: .android(String(repeating: "a", count: 32)))
      .get()
    _ = try await client.register(deviceId: "new-phone", token: .android(String(repeating: "b", count: 32))).get()
    #expect(await client.examine().last?.message == "2 registered, none of them dead")
    gateway.state.withLock { $0.statuses[phone] = "dead" }
    let findings = await client.examine()
    #expect(steps(findings) == ["connection", "clock", "proof", "session", "!devices"])
    #expect(findings.last?.message.contains("2 registered, of which no push reaches old-phone: register anew") == true)
  }

  @Test func `A proof that is refused, and a session that is good for nothing, are told apart`() async {
    gateway.play("POST /v1/host/session", .reply(.error(401, "invalid_proof")))
    #expect(steps(await client().examine()) == ["connection", "clock", "proof", "!session"])
    gateway.play("GET /v1/devices", .reply(.error(503, "busy")))
    #expect(steps(await client().examine()) == ["connection", "clock", "proof", "session", "!devices"])
  }
}
