import Testing

@testable import PushHost

@Suite struct SessionTests {
  private let clock = ManualClock()
  private let gateway: PlayedGateway
  private let client: GatewayClient

  init() {
    gateway = PlayedGateway(clock: clock.clock)
    client = gateway.client()
  }

  private static let challenge = "POST /v1/host/challenge"
  private static let session = "POST /v1/host/session"
  private static let list = "GET /v1/devices"

  @Test func `A session is proved for once and used until 60 s before its end`() async throws {
    for _ in 0..<3 { #expect(try await client.devices().get().isEmpty) }
    clock.advance(86_400_000 - 60_001)
    #expect(try await client.devices().get().isEmpty)
    #expect(gateway.count(Self.challenge) == 1)
    clock.advance(1)
    #expect(try await client.devices().get().isEmpty)
    #expect(gateway.count(Self.challenge) == 2)
    #expect(gateway.count(Self.session) == 2)
  }

  @Test func `Many calls that wait for a session share one proof`() async throws {
    gateway.hold()
    let calls = (0..<20).map { _ in Task { await client.devices() } }
    await gateway.calls(1)
    gateway.release()
    for call in calls { #expect(try await call.value.get().isEmpty) }
    #expect(gateway.count(Self.challenge) == 1)
    #expect(gateway.count(Self.list) == 20)
  }

  @Test func `Many calls that meet a session's end share one renewal`() async throws {
    _ = await client.devices()
    gateway.endSessions()
    let calls = (0..<20).map { _ in Task { await client.devices() } }
    for call in calls { #expect(try await call.value.get().isEmpty) }
    #expect(gateway.count(Self.challenge) == 2)
  }

  @Test func `A caller that is cancelled does not end the proof for the others`() async throws {
    gateway.hold()
    let first = Task { await client.devices() }
    await gateway.calls(1)
    let second = Task { await client.devices() }
    first.cancel()
    gateway.release()
    #expect(try await second.value.get().isEmpty)
    #expect(gateway.count(Self.challenge) == 1)
  }

  @Test func `A 401 leads to one renewal and one repeat`() async throws {
    _ = await client.devices()
    gateway.endSessions()
    #expect(try await client.devices().get().isEmpty)
    #expect(
      gateway.routes == [
        Self.challenge, Self.session, Self.list, Self.list, Self.challenge, Self.session, Self.list,
      ])
  }

  @Test func `A 401 for ever is a refusal after one renewal, remembered for 30 s`() async throws {
    let refusal = HttpReply.error(401, "invalid_token")
    gateway.play(Self.list, .reply(refusal), .reply(refusal))
    let refused = GatewayFault.rejected(Rejection(status: 401, reason: "invalid_token"))
    #expect(await client.devices() == .failure(refused))
    let asked = [Self.challenge, Self.session, Self.list, Self.challenge, Self.session, Self.list]
    #expect(gateway.routes == asked)
    clock.advance(29_999)
    #expect(await client.devices() == .failure(refused))
    #expect(gateway.routes == asked)
    clock.advance(1)
    #expect(try await client.devices().get().isEmpty)
  }

  @Test(arguments: [
    HttpReply.error(401, "invalid_proof"), .error(400, "invalid_request"), HttpReply(status: 302),
    .error(404, "not_found"),
  ])
  func `A refused proof is remembered for 30 s`(reply: HttpReply) async throws {
    gateway.play(Self.session, .reply(reply))
    let first = await client.devices()
    guard case .failure(.rejected(let rejection)) = first else {
      Issue.record("\(first)")
      return
    }
    #expect(rejection.status == reply.status)
    clock.advance(29_999)
    #expect(await client.devices() == first)
    #expect(gateway.routes == [Self.challenge, Self.session])
    clock.advance(1)
    #expect(try await client.devices().get().isEmpty)
  }

  @Test func `A throttled proof is remembered for 60 s, and says how long it lasts`() async throws {
    gateway.play(Self.challenge, .reply(.error(429, "rate_limited", retryAfter: "2")))
    #expect(await client.devices() == .failure(.throttled(retryAfter: 2)))
    clock.advance(20_500)
    #expect(await client.devices() == .failure(.throttled(retryAfter: 40)))
    clock.advance(39_499)
    #expect(await client.devices() == .failure(.throttled(retryAfter: 1)))
    #expect(gateway.count(Self.challenge) == 1)
    clock.advance(1)
    #expect(try await client.devices().get().isEmpty)
  }

  @Test func `A gateway that says a longer time is given it`() async throws {
    gateway.play(Self.challenge, .reply(.error(429, "rate_limited", retryAfter: "100")))
    #expect(await client.devices() == .failure(.throttled(retryAfter: 100)))
    clock.advance(99_999)
    #expect(await client.devices() == .failure(.throttled(retryAfter: 1)))
    clock.advance(1)
    #expect(try await client.devices().get().isEmpty)
  }

  @Test(arguments: [
    PlayedGateway.Play.unreachable(.noConnection), .unreachable(.tls(.untrusted)), .unreachable(.deadline),
    .reply(.error(503, "busy")), .reply(.error(500, "internal")),
    .reply(HttpReply(status: 200, body: [1, 2, 3])),
  ])
  func `A gateway that could not be reached is asked again at once`(play: PlayedGateway.Play)
    async throws
  {
    gateway.play(Self.challenge, play)
    guard case .failure(.unreachable) = await client.devices() else {
      Issue.record("reached")
      return
    }
    #expect(try await client.devices().get().isEmpty)
    #expect(gateway.count(Self.challenge) == 2)
  }

  @Test func `A throttled call leaves the session alone and is not remembered`() async throws {
    _ = await client.devices()
    gateway.play(Self.list, .reply(.error(429, "rate_limited", retryAfter: "7")))
    #expect(await client.devices() == .failure(.throttled(retryAfter: 7)))
    #expect(try await client.devices().get().isEmpty)
    #expect(gateway.count(Self.challenge) == 1)
  }

  @Test(arguments: [
    (nil, 60), ("0", 1), ("-1", 60), ("5", 5), ("999999999", 3_600), ("soon", 60),
    ("99999999999999999999", 60),
  ])
  func `Retry-After is read within bounds`(field: String?, seconds: Int) {
    let reply = HttpReply.error(429, "rate_limited", retryAfter: field)
    #expect(reply.fault(expecting: 200) == .throttled(retryAfter: seconds))
  }

  @Test func `A session that another process left is used, and proved anew when it is refused`()
    async throws
  {
    let shelf = OneShelf(gateway.session("left"))
    gateway.state.withLock { $0.sessions = ["left"] }
    let client = gateway.client(shelf)
    #expect(try await client.devices().get().isEmpty)
    #expect(gateway.routes == [Self.list])
    gateway.endSessions()
    #expect(try await client.devices().get().isEmpty)
    #expect(gateway.count(Self.challenge) == 1)
    #expect(await shelf.session()?.token != "left")
  }

  @Test func `A stale session of another process costs no renewal of its own`() async throws {
    let shelf = OneShelf(gateway.session("stale"))
    let client = gateway.client(shelf)
    #expect(try await client.devices().get().isEmpty)
    #expect(gateway.routes == [Self.list, Self.challenge, Self.session, Self.list])
  }

  @Test func `A session that took the place of the one just proved for is used, and not proved for again`() async throws
  {
    // Another process proves in the moment after this one has.
    let left = gateway.session("left")
    let gateway = gateway
    let shelf = OneShelf(
      gateway.session("stale"),
      onKeep: { _ in
        gateway.state.withLock { $0.sessions = ["left"] }
        return left
      })
    #expect(try await gateway.client(shelf).devices().get().isEmpty)
    #expect(gateway.routes == [Self.list, Self.challenge, Self.session, Self.list, Self.list])
    #expect(gateway.state.withLock { $0.calls.last?.bearer } == "left")
  }

  @Test func `A 401 for ever is a refusal after one renewal, where the session is shared too`() async {
    let shelf = OneShelf(gateway.session("stale"))
    let refusal = HttpReply.error(401, "invalid_token")
    gateway.play(Self.list, .reply(refusal), .reply(refusal))
    let refused = GatewayFault.rejected(Rejection(status: 401, reason: "invalid_token"))
    #expect(await gateway.client(shelf).devices() == .failure(refused))
    #expect(gateway.routes == [Self.list, Self.challenge, Self.session, Self.list])
  }

  @Test func `A session that others replace without end is given up`() async {
    let gateway = gateway
    let number = Guarded(0)
    let shelf = OneShelf(
      gateway.session("stale"),
      onRead: { _ in
        let next = number.withLock { number in
          number += 1
          return number
        }
        return gateway.session("other-\(next)")
      })
    guard case .failure(.rejected(let why)) = await gateway.client(shelf).devices() else {
      Issue.record("taken")
      return
    }
    #expect(why.reason == "invalid_token")
    #expect(gateway.count(Self.list) == 5)
    #expect(gateway.count(Self.challenge) == 0)
  }

  @Test func `A session of another gateway or host is shown to nobody`() async throws {
    let right = gateway.session("left")
    for other in [
      HostSession(
        token: "left", origin: "https://other.example", host: right.host, expiresAt: right.expiresAt
      ),
      HostSession(
        token: "left", origin: right.origin, host: "AAAAAAAAAAAAAAAA", expiresAt: right.expiresAt),
    ] {
      #expect(try await gateway.client(OneShelf(other)).devices().get().isEmpty)
    }
    #expect(gateway.state.withLock { $0.calls.allSatisfy { $0.bearer != "left" } })
  }

  @Test func `A session's token shows nowhere`() {
    let session = gateway.session("the-secret")
    var dumped = ""
    dump(session, to: &dumped)
    #expect(!"\(session) \(String(reflecting: session)) \(dumped)".contains("the-secret"))
    #expect(HostSession(stored: session.stored) == session)
    #expect(HostSession(stored: Array("{}".utf8)) == nil)
  }
}

/// A shelf in memory, with other processes that keep something else in place of what is kept here.
private actor OneShelf: SessionShelf {
  private var kept: HostSession?
  private let onKeep: @Sendable (HostSession) -> HostSession
  private let onRead: @Sendable (HostSession?) -> HostSession?

  init(
    _ session: HostSession, onKeep: @escaping @Sendable (HostSession) -> HostSession = { $0 },
    onRead: @escaping @Sendable (HostSession?) -> HostSession? = { $0 }
  ) {
    kept = session
    self.onKeep = onKeep
    self.onRead = onRead
  }

  func session() -> HostSession? { onRead(kept) }
  func keep(_ session: HostSession) { kept = onKeep(session) }
  func turn() -> FolderLock? { nil }
}
