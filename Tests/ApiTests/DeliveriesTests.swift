import Json
import Testing

/// `GET /v1/deliveries`: what became of an event, for the host that sent it (rulings 6.11).
@Suite struct DeliveriesTests {
  private static let first = "/v1/deliveries?notificationEpoch=e-1&notificationSeq=1"

  @Test(arguments: StoreKind.allCases)
  func `A delivery is told in exactly these words, without text or token`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      let id = try await gateway.phone(token)
      #expect(try await gateway.send(token, [id], Body.notification(1, title: "A secret title")) == ["queued"])
      let reply = try await gateway.ask(.get(Self.first, bearer: token))
      #expect(reply.status == 200)
      #expect(reply.headers["content-type"] == "application/json; charset=utf-8")
      #expect(reply.headers["cache-control"] == "no-store")
      #expect(reply.members == ["deliveries"])
      let deliveries = try #require(reply.json?["deliveries"]?.array)
      try #require(deliveries.count == 1)
      let delivery = deliveries[0]
      #expect(
        delivery.object?.members.map(\.key) == [
          "kind", "registrationId", "platform", "apnsEnvironment", "state", "waitsFor", "attempts", "unknownOutcomes",
          "queuedAt", "deadline",
        ])
      #expect(delivery["kind"]?.string == "alert")
      #expect(delivery["registrationId"]?.string == id)
      #expect(delivery["platform"]?.string == "ios")
      #expect(delivery["apnsEnvironment"]?.string == "production")
      #expect(delivery["state"]?.string == "pending")
      #expect(delivery["waitsFor"]?.string == "worker")
      #expect(delivery["attempts"]?.integer == 0)
      let queued = try #require(delivery["queuedAt"]?.integer)
      #expect(delivery["deadline"]?.integer == queued + 300_000)
      #expect(!reply.text.contains("secret") && !reply.text.contains("aabb"))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `An alert and a dismissal of one seq are told apart, and may be asked for apart`(on kind: StoreKind) async throws
  {
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      let ids = [try await gateway.phone(token, "a"), try await gateway.phone(token, "b")]
      #expect(try await gateway.send(token, ids, Body.notification(1)) == ["queued", "queued"])
      #expect(try await gateway.send(token, [ids[1]], Body.notification(1, kind: "dismiss")) == ["queued"])
      func told(_ query: String) async throws -> [String] {
        let reply = try await gateway.ask(.get(Self.first + query, bearer: token))
        return (reply.json?["deliveries"]?.array ?? []).map {
          "\($0["kind"]?.string ?? "") \($0["registrationId"]?.string == ids[0] ? "a" : "b")"
        }
      }
      #expect(try await told("") == ["alert a", "alert b", "dismiss b"])
      #expect(try await told("&kind=alert") == ["alert a", "alert b"])
      #expect(try await told("&kind=dismiss") == ["dismiss b"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Epochs may hold any characters`(on kind: StoreKind) async throws {
    let epochs = [
      ("a b&c=d+e%f#g?h/i", "a%20b%26c%3Dd%2Be%25f%23g%3Fh%2Fi"), ("é", "%C3%A9"), ("e\u{301}", "e%CC%81"),
      (String(repeating: "🐳", count: 64), String(repeating: "%f0%9f%90%b3", count: 64)), ("' or 1=1 --", "'+or+1=1+--"),
    ]
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      let id = try await gateway.phone(token)
      for (place, (epoch, escaped)) in epochs.enumerated() {
        var members = try #require(Body.notification(1).object).members.filter { $0.key != "notificationEpoch" }
        members.append(("notificationEpoch", .string(epoch)))
        let ask = Ask.get("/v1/deliveries?notificationEpoch=\(escaped)&notificationSeq=1", bearer: token)
        #expect(try await gateway.ask(ask).verdict == "404 not_found", "\(place): nothing there yet")
        #expect(try await gateway.send(token, [id], .object(JsonObject(members))) == ["queued"])
        #expect(try await gateway.ask(ask).json?["deliveries"]?.array?.count == 1, "\(place)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Only the host that sent it may ask`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let owner = try await gateway.bearer()
      let other = try await gateway.bearer()
      #expect(try await gateway.send(owner, [try await gateway.phone(owner)], Body.notification(1)) == ["queued"])
      #expect(try await gateway.ask(.get(Self.first)).verdict == "401 invalid_token")
      #expect(try await gateway.ask(.get(Self.first, bearer: other)).verdict == "404 not_found")
      let unknown = "/v1/deliveries?notificationEpoch=e-1&notificationSeq=2"
      #expect(try await gateway.ask(.get(unknown, bearer: owner)).text == #"{"error":"not_found"}"#)
      #expect(try await gateway.ask(.get(Self.first, bearer: owner)).status == 200)
    }
  }

  @Test func `What is amiss with a query is named, after the caller was asked who they are`() async throws {
    let queries = [
      ("", "notificationEpoch is missing"), ("?", "notificationEpoch is missing"),
      ("?notificationEpoch=e-1", "notificationSeq is missing"),
      (
        "?notificationEpoch=e-1&notificationSeq=1&x=y",
        "the query may hold notificationEpoch, notificationSeq and kind and nothing else"
      ),
      ("?notificationEpoch=e-1&notificationSeq=1&notificationSeq=1", "notificationSeq is given more than once"),
      ("?notificationEpoch=e-1&notificationSeq=01", "notificationSeq must be an integer from 0 to 9007199254740991"),
      ("?notificationEpoch=%ff&notificationSeq=1", "the query must be UTF-8, percent-encoded"),
      ("?notificationEpoch=e-1&notificationSeq=1&kind=x", "kind must be alert or dismiss"),
      (
        "?notificationEpoch=%01&notificationSeq=1",
        "notificationEpoch must have 1 to 128 characters, none of them a control character"
      ),
    ]
    try await StoreKind.sqlite.use { gateway in
      let token = try await gateway.bearer()
      for (query, detail) in queries {
        #expect(try await gateway.ask(.get("/v1/deliveries" + query)).verdict == "401 invalid_token")
        let reply = try await gateway.ask(.get("/v1/deliveries" + query, bearer: token))
        #expect(reply.text == #"{"error":"invalid_request","detail":"\#(detail)"}"#)
        #expect(reply.status == 400)
      }
      let large = Ask(
        method: "GET", path: "/v1/deliveries?x", bearer: token, body: [UInt8](repeating: 32, count: 20_000))
      #expect(try await gateway.ask(large).verdict == "413 request_too_large")
    }
  }

  @Test func `HEAD works, other methods do not`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let token = try await gateway.bearer()
      #expect(try await gateway.send(token, [try await gateway.phone(token)], Body.notification(1)) == ["queued"])
      let get = try await gateway.ask(.get(Self.first, bearer: token))
      let head = try await gateway.ask(.get(Self.first, bearer: token).with(method: "HEAD"))
      #expect(head.status == 200)
      #expect(head.headers["content-length"] == get.headers["content-length"])
      for method in ["POST", "DELETE", "PUT"] {
        let reply = try await gateway.ask(Ask(method: method, path: Self.first, bearer: token))
        #expect(reply.verdict == "405 method_not_allowed")
        #expect(reply.headers["allow"] == "GET, HEAD")
      }
    }
  }

  @Test func `Asking spends the host's budget`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let token = try await gateway.bearer()
      // 404 is an answer like any other. Ten flow back each second, so that a slow machine lets some more in.
      let replies = try await Gateway.ask((0..<600).map { _ in (gateway, .get(Self.first, bearer: token)) })
      #expect(replies.allSatisfy { $0.verdict == "404 not_found" })
      for _ in 0..<200 {
        let reply = try await gateway.ask(.get(Self.first, bearer: token))
        if reply.status == 429 { return #expect(reply.headers["retry-after"] == "1") }
      }
      Issue.record("no 429")
    }
  }
}
