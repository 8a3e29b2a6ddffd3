import Json
import Testing

/// Contract, "Request limits"; rulings 1.11, 1.12 and 2.5.
@Suite struct LimitTests {
  private static let tooLarge = String(repeating: " ", count: 20_000)

  /// How many came through before the first 429, and that one.
  private struct Exhaustion {
    var count: Int
    var last: Reply
    /// How many may have come through: the budget, and what flowed back while they were asked, half a request a second.
    var expected: ClosedRange<Int>
  }

  /// Asks until the answer is 429. A machine that is slow lets more in, since budgets flow back; `spent` of 30 are gone
  /// since `start`.
  private func exhaust(
    _ gateway: Gateway, spent: Int = 0, since start: ContinuousClock.Instant = .now, _ ask: Ask
  ) async throws -> Exhaustion {
    for count in 0...1_000 {
      let reply = try await gateway.ask(ask)
      if reply.status == 429 {
        let flown = Int((start.duration(to: .now) / .seconds(2)).rounded(.up))
        return Exhaustion(count: count, last: reply, expected: (30 - spent)...(30 - spent + flown))
      }
    }
    throw Unexpected("no 429 in 1000 requests")
  }

  /// Whether `ask` finds the budget empty that `other` spends. Some may have flowed back between the two, so it is tried
  /// again, fewer times than a budget of its own would last.
  private func sharesBudget(_ gateway: Gateway, _ ask: Ask, with other: Ask) async throws -> Bool {
    for _ in 0..<20 {
      _ = try await exhaust(gateway, other)
      if try await gateway.ask(ask).verdict == "429 rate_limited" { return true }
    }
    return false
  }

  @Test func `Challenge, session and readiness share 30 a minute of one address`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let address = Ask.freshAddress
      let start = ContinuousClock.now
      for _ in 0..<10 {
        _ = try await gateway.ask(.post("/v1/host/challenge", Body.challenge()).from(address))
        _ = try await gateway.ask(.post("/v1/host/session", "{}").from(address))
        _ = try await gateway.ask(.get("/ready").from(address))
      }
      let ready = Ask.get("/ready").from(address)
      let end = try await exhaust(gateway, spent: 30, since: start, ready)
      #expect(end.expected.contains(end.count))
      #expect(end.last.text == #"{"error":"rate_limited"}"#)
      let seconds = try #require(end.last.headers["retry-after"].flatMap(Int.init))
      #expect((1...2).contains(seconds))
      let challenge = Ask.post("/v1/host/challenge", Body.challenge()).from(address)
      #expect(try await sharesBudget(gateway, challenge, with: ready))
      // The address's other budget, other addresses and health are untouched.
      #expect(try await gateway.ask(.get("/v1/devices").from(address)).verdict == "401 invalid_token")
      #expect(try await gateway.ask(.get("/ready")).status == 200)
      #expect(try await gateway.ask(.get("/health").from(address)).status == 200)
    }
  }

  @Test func `Health spends no budget`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let address = Ask.freshAddress
      let replies = try await Gateway.ask((0..<60).map { _ in (gateway, .get("/health").from(address)) })
      #expect(replies.allSatisfy { $0.status == 200 })
      #expect(try await gateway.ask(.get("/ready").from(address)).status == 200)
    }
  }

  @Test func `An empty handshake bucket is told before a large body, a large body before a bad one`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let address = Ask.freshAddress
      for path in ["/v1/host/challenge", "/v1/host/session"] {
        #expect(try await gateway.ask(.post(path, Self.tooLarge).from(address)).verdict == "413 request_too_large")
        #expect(try await gateway.ask(.post(path, "x").from(address)).verdict == "400 invalid_request")
      }
      let challenge = Ask.post("/v1/host/challenge", "x").from(address)
      for body in [Self.tooLarge, "x"] {
        let session = Ask.post("/v1/host/session", body).from(address)
        let shares = try await sharesBudget(gateway, session, with: challenge)
        #expect(shares)
      }
    }
  }

  @Test func `Bad bearers spend a budget of their address that then bars good ones`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let token = try await gateway.bearer()
      let address = Ask.freshAddress
      let guessed = String(repeating: "A", count: 43)
      let bad = Ask.get("/v1/devices", bearer: guessed).from(address)
      let end = try await exhaust(gateway, bad)
      #expect(end.expected.contains(end.count))
      #expect(end.last.headers["retry-after"].flatMap(Int.init).map { (1...2).contains($0) } == true)
      let good = Ask.get("/v1/devices", bearer: token)
      #expect(try await sharesBudget(gateway, good.from(address), with: bad))
      #expect(try await gateway.ask(good).status == 200)
      // The other budget of the address is its own.
      #expect(try await gateway.ask(.get("/ready").from(address)).status == 200)
    }
  }

  @Test func `Good bearers spend nothing of the budget for bad ones`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let good = Ask.get("/v1/devices", bearer: try await gateway.bearer()).from(Ask.freshAddress)
      let replies = try await Gateway.ask((0..<60).map { _ in (gateway, good) })
      #expect(replies.allSatisfy { $0.status == 200 })
    }
  }

  @Test func `Who calls is asked before what they say`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let token = try await gateway.bearer()
      for path in ["/v1/devices", "/v1/send"] {
        for body in [Self.tooLarge, "x", "{}"] {
          #expect(try await gateway.ask(.post(path, body)).verdict == "401 invalid_token")
        }
        #expect(try await gateway.ask(.post(path, Self.tooLarge, bearer: token)).verdict == "413 request_too_large")
        let inChunks = Ask.post(path, Self.tooLarge, bearer: token).with(isChunked: true)
        #expect(try await gateway.ask(inChunks).verdict == "413 request_too_large")
        #expect(try await gateway.ask(.post(path, "x", bearer: token)).verdict == "400 invalid_request")
      }
    }
  }

  @Test func `A host has 600 requests a minute, whatever its address, and takes none of another's`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let token = try await gateway.bearer()
      let other = try await gateway.bearer()
      let replies = try await Gateway.ask((0..<600).map { _ in (gateway, .get("/v1/devices", bearer: token)) })
      #expect(replies.allSatisfy { $0.status == 200 })
      // Ten flow back each second, so that a slow machine lets some more in.
      var more = 0
      var last: Reply?
      while last?.status != 429, more < 600 {
        let replies = try await Gateway.ask(
          (0..<20).map { _ in (gateway, .post("/v1/send", Self.tooLarge, bearer: token)) })
        more += 20
        last = replies.first { $0.status == 429 }
      }
      let refused = try #require(last)
      #expect(refused.verdict == "429 rate_limited")
      #expect(refused.headers["retry-after"] == "1")
      #expect(try await gateway.ask(.get("/v1/devices", bearer: other)).status == 200)
    }
  }

  @Test func `The address is the hop that the platform vouches for`() async throws {
    try await StoreKind.sqlite.use(["ORCA_PUSH_TRUSTED_PROXY_HOPS": "1"]) { gateway in
      let address = Ask.freshAddress
      // Whatever stands before it is forged at will.
      for count in 0..<30 {
        let forged = "\(count).1.1.1, \(address), 10.0.0.1"
        #expect(try await gateway.ask(.get("/ready").from(forged)).status == 200)
      }
      let spent = Ask.get("/ready").from("7.7.7.7, \(address) ,10.0.0.1")
      // Without enough hops: x-real-ip, and else one bucket for all.
      var real = Ask.get("/ready").from("10.0.0.1")
      real.headers["x-real-ip"] = address
      let realShares = try await sharesBudget(gateway, real, with: spent)
      #expect(realShares)
      #expect(try await gateway.ask(.get("/ready").from("10.0.0.1")).status == 200)
      #expect(try await sharesBudget(gateway, .get("/ready").from("10.0.0.2"), with: .get("/ready").from(nil)))
    }
  }

  @Test func `Four look-ups run and 32 wait, the next is told to come again`() async throws {
    try await StoreKind.postgres.use { gateway in
      let token = try await gateway.bearer()
      #expect(try await gateway.ask(.get("/v1/devices", bearer: token)).status == 200)
      let hold = try await gateway.place.hold("push_sessions")
      // The four that find no place are answered while the others still wait.
      let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
        for _ in 0..<40 {
          group.addTask { try await gateway.ask(.get("/v1/devices", bearer: Base64Text.random())) }
        }
        var replies: [Reply] = []
        while let reply = try await group.next() {
          replies.append(reply)
          if replies.count == 4 { try await hold.release() }
        }
        return replies
      }
      #expect(replies.prefix(4).allSatisfy { $0.verdict == "503 busy" && $0.headers["retry-after"] == "1" })
      #expect(Set(replies.dropFirst(4).map(\.verdict)) == ["401 invalid_token"])
    }
  }
}

enum Base64Text {
  /// What looks like a token.
  static func random() -> String {
    let symbols = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    return String((0..<42).map { _ in symbols.randomElement() ?? "A" }) + "A"
  }
}
