import Http
import Loop
import Testing
import Tls

extension ClientLiveTests {
  @Suite("HTTP/2 pool against our own server, over TLS") @LoopActor
  struct ClientServerTests {
    func serve(
      streams: Int, connections: Int, _ handler: @escaping HttpServer.Handler
    ) async throws -> (server: HttpServer, pool: Http2Pool, origin: Origin) {
      let certificates = await TestCertificates.made()
      let context = try TlsServerContext(
        certificateChainPem: certificates.server, privateKeyPem: certificates.key, alpn: ["h2", "http/1.1"])
      var serverLimits = HttpServerLimits.patient
      serverLimits.streams = streams
      let server = HttpServer(limits: serverLimits, handler: handler)
      let port = try server.listen(address: "127.0.0.1", port: 0, tls: context)
      var limits = Http2PoolLimits.patient
      limits.connections = connections
      let origin = Origin(host: "localhost", port: UInt16(port))
      let tls = try await TestCertificates.trust()
      return (server, Http2Pool(origin: origin, tls: tls, limits: limits), origin)
    }

    func numbered(_ origin: Origin, _ count: Int) -> [Http2ClientRequest] {
      (0..<count).map { number in
        var request = push(origin)
        request.body = Array("\(number)".utf8)
        return request
      }
    }

    @Test("GOAWAY every 100 requests, refusals between them: each request is looked at exactly once")
    func goAways() async throws {
      var seen: [String: Int] = [:]
      let (server, pool, origin) = try await serve(streams: 50, connections: 2) { request, exchange in
        let number = exchange.requestsOnConnection
        if number > 100 || number % 7 == 0 {
          exchange.refuse()
          return nil
        }
        seen[String(decoding: request.body, as: UTF8.self), default: 0] += 1
        if number == 100 { exchange.goAway(lastStreamId: exchange.streamId, debug: Array("Shutdown".utf8)) }
        return HttpResponse(status: 200, headers: ["apns-id": "\(number)"])
      }
      let answers = await pool.blast(numbered(origin, 1_000))
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(answers.allSatisfy { (try? $0.get().headers["apns-id"]) != nil })
      #expect(seen.count == 1_000 && seen.values.allSatisfy { $0 == 1 })
      #expect(server.acceptedConnections >= 10)
      pool.close()
      server.stop()
    }

    @Test("One stream until the first answer, then many, on one connection")
    func limitGrows() async throws {
      var open = 0
      var most = 0
      let (server, pool, origin) = try await serve(streams: 1, connections: 1) { _, exchange in
        open += 1
        most = max(most, open)
        defer { open -= 1 }
        if exchange.requestsOnConnection == 1 { exchange.announce(maxConcurrentStreams: 100) }
        try? await EventLoop.shared.sleep(milliseconds: 1)
        return HttpResponse(status: 200)
      }
      let answers = await pool.blast(numbered(origin, 500))
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(most > 1 && most <= 100)
      #expect(server.acceptedConnections == 1)
      pool.close()
      server.stop()
    }

    @Test("HTTP/1.1 goes over TLS too, where the server offers both")
    func http1() async throws {
      let (server, pool, origin) = try await serve(streams: 10, connections: 1) { request, _ in
        HttpResponse(status: 200, body: Array("\(request.version)".utf8))
      }
      let tls = try await TestCertificates.trust()
      let url = try #require(Url("https://localhost:\(origin.port)/"))
      #expect(try await Http1Client.send("GET", url, tls: tls).body == Array("1".utf8))
      #expect(try await pool.send(numbered(origin, 1)[0]).body == Array("2".utf8))
      pool.close()
      server.stop()
    }
  }
}
