import Json
import Testing

/// Rulings 1.3 and 8, and the order of the first checks.
@Suite struct RoutingTests {
  @Test func `Health is told in exactly these words`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let reply = try await gateway.ask(.get("/health"))
      #expect(reply.status == 200)
      #expect(reply.text == #"{"ok":true,"pushProtocol":1,"deliveryProtocol":2,"mode":"active"}"#)
      #expect(reply.headers["content-type"] == "application/json; charset=utf-8")
      #expect(reply.headers["cache-control"] == "no-store")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A gateway that can serve says so`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let reply = try await gateway.ask(.get("/ready"))
      #expect(reply.status == 200)
      #expect(reply.json?["ok"]?.bool == true)
    }
  }

  @Test func `Unknown paths are not found, without asking who calls`() async throws {
    try await StoreKind.sqlite.use { gateway in
      for path in [
        "/", "/v1", "/v1/", "/v1/send/", "/v1/devices/", "/v1/devices/a/b", "/v2/send", "/V1/send", "/health/",
        "/v1/host", "//v1/send", "/metrics", "/v1/%73end",
      ] {
        for method in ["GET", "POST", "DELETE"] {
          let reply = try await gateway.ask(Ask(method: method, path: path))
          #expect(reply.verdict == "404 not_found", "\(method) \(path)")
        }
      }
    }
  }

  @Test func `A known path says which methods it knows`() async throws {
    let known: [(String, String, [String])] = [
      ("/health", "GET, HEAD", ["POST", "DELETE", "PUT", "OPTIONS"]),
      ("/ready", "GET, HEAD", ["POST", "PATCH"]),
      ("/v1/host/challenge", "POST", ["GET", "HEAD", "DELETE"]),
      ("/v1/host/session", "POST", ["GET", "PUT"]),
      ("/v1/devices", "GET, HEAD, POST", ["DELETE", "PUT"]),
      ("/v1/devices/abc", "DELETE", ["GET", "POST", "HEAD"]),
      ("/v1/send", "POST", ["GET", "HEAD", "get"]),
      ("/v1/deliveries", "GET, HEAD", ["POST", "DELETE"]),
    ]
    try await StoreKind.sqlite.use { gateway in
      for (path, allow, methods) in known {
        for method in methods {
          let reply = try await gateway.ask(Ask(method: method, path: path))
          #expect(reply.status == 405, "\(method) \(path)")
          #expect(reply.headers["allow"] == allow)
          if method != "HEAD" { #expect(reply.text == #"{"error":"method_not_allowed"}"#) }
        }
      }
    }
  }

  @Test func `HEAD is answered as GET without its body`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let token = try await gateway.bearer()
      for path in ["/health", "/ready", "/v1/devices"] {
        let get = try await gateway.ask(.get(path, bearer: token))
        let head = try await gateway.ask(.get(path, bearer: token).with(method: "HEAD"))
        #expect(get.status == 200)
        #expect(head.status == 200)
        #expect(head.headers["content-length"] == get.headers["content-length"])
      }
    }
  }

  @Test func `A query changes nothing`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let reply = try await gateway.ask(.get("/health?x=1"))
      #expect(reply.status == 200)
    }
  }
}
