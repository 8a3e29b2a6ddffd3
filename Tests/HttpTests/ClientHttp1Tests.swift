import Http
import Loop
import Testing

extension ClientLiveTests {
  @Suite("HTTP/1.1 client") @LoopActor
  struct ClientHttp1Tests {
    func serve(_ handler: @escaping HttpServer.Handler) throws -> (server: HttpServer, url: String) {
      let server = HttpServer(limits: .patient, handler: handler)
      return (server, "http://127.0.0.1:\(try server.listen(address: "127.0.0.1", port: 0))")
    }

    @Test("A request goes out whole, and its answer comes back whole")
    func roundTrip() async throws {
      let (server, base) = try serve { request, _ in
        let told = "\(request.method) \(request.path)?\(request.query ?? "") \(request.headers["x-a"] ?? "")"
        return HttpResponse(status: 201, headers: ["x-told": told], body: request.body)
      }
      let url = try #require(Url(base + "/a/b?c=d"))
      let body = Array(repeating: UInt8(ascii: "x"), count: 10_000)
      let answer = try await Http1Client.send("POST", url, headers: ["x-a": "1"], body: body)
      #expect(answer.status == 201)
      #expect(answer.headers["x-told"] == "POST /a/b?c=d 1")
      #expect(answer.body == body)
      server.stop()
    }

    @Test("A redirect is an answer like any other")
    func redirect() async throws {
      let (server, base) = try serve { _, _ in
        HttpResponse(status: 302, headers: ["location": "http://127.0.0.1:1/"])
      }
      let answer = try await Http1Client.send("GET", try #require(Url(base)))
      #expect(answer.status == 302)
      #expect(server.acceptedConnections == 1)
      server.stop()
    }

    @Test("A server that does not answer in time is given up")
    func deadline() async throws {
      let (server, base) = try serve { _, exchange in
        await exchange.hang()
        return nil
      }
      let url = try #require(Url(base))
      await #expect(throws: Http1Failure.timedOut) { try await Http1Client.send("GET", url, deadline: 100) }
      server.stop()
    }

    @Test("A server that hangs up without an answer is told apart from one that is not there")
    func broken() async throws {
      let (server, base) = try serve { _, exchange in
        exchange.closeConnection()
        return nil
      }
      let url = try #require(Url(base))
      await #expect(throws: Http1Failure.connectionLost("the connection closed amid the answer")) {
        try await Http1Client.send("GET", url)
      }
      server.stop()
      let nobodyListens = BoundSocket(backlog: nil)
      let port = nobodyListens.port
      let refused = ConnectFailure(step: .tcp, text: "127.0.0.1:\(port) Connection refused")
      let nobody = try #require(Url("http://127.0.0.1:\(port)/"))
      await #expect(throws: Http1Failure.connect(refused)) { try await Http1Client.send("GET", nobody) }
      withExtendedLifetime(nobodyListens) {}
    }

    @Test("Line breaks in a method or header never leave", arguments: ["a\r\nb: c", "a\nb", "a\0b"])
    func smuggling(text: String) async throws {
      let url = try #require(Url("http://127.0.0.1:1/"))
      await #expect(throws: Http1Failure.unwritable) { try await Http1Client.send("GET", url, headers: ["x": text]) }
      await #expect(throws: Http1Failure.unwritable) { try await Http1Client.send("GET", url, headers: [text: "x"]) }
      await #expect(throws: Http1Failure.unwritable) { try await Http1Client.send(text, url) }
    }

    @Test("A secure origin without roots is not reached")
    func noRoots() async throws {
      let hole = BoundSocket(backlog: 4)
      let url = try #require(Url("https://127.0.0.1:\(hole.port)/"))
      let failure = ConnectFailure(step: .tls, text: "no TLS roots were given")
      await #expect(throws: Http1Failure.connect(failure)) { try await Http1Client.send("GET", url) }
    }
  }
}
