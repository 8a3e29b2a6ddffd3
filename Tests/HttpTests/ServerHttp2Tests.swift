import Loop
import Testing
import Tls

@testable import Http

/// A server that says what it was asked, and the log of what came.
@LoopActor
private func echoServer(
  tls: TlsServerContext? = nil, _ change: (inout HttpServerLimits) -> Void = { _ in }
) throws -> (server: HttpServer, port: Int, log: ServerLog) {
  var limits = HttpServerLimits.patient
  change(&limits)
  let log = ServerLog()
  let server = HttpServer(limits: limits) { request, exchange in
    log.note("\(request.method) \(request.path) \(request.bodyTooLarge ? "too large" : "\(request.body.count)")")
    if request.bodyTooLarge { return HttpResponse(status: 413) }
    let text = "\(request.method) \(request.path)?\(request.query ?? "") \(request.body.count) v\(request.version)\n"
    return HttpResponse(status: 200, body: Array(text.utf8))
  }
  return (server, try server.listen(address: "127.0.0.1", port: 0, tls: tls), log)
}

@Suite("HTTP/2 server")
struct ServerHttp2Tests {
  @Test(
    "Speaks HTTP/2 in the clear by prior knowledge, and HTTP/1.1 on the same port", .enabled(if: ServerCurl.isInstalled)
  )
  @LoopActor
  func inTheClear() async throws {
    let (server, port, _) = try echoServer()
    let url = "http://127.0.0.1:\(port)/a?b=c"
    #expect(await ServerCurl.lines([url]) == ["GET /a?b=c 0 v1", "200 1.1"])
    let h2 = "--http2-prior-knowledge"
    #expect(await ServerCurl.lines([h2, url]) == ["GET /a?b=c 0 v2", "200 2"])
    #expect(await ServerCurl.lines([h2, "-I", "-o", "/dev/null", url]) == ["200 2"])
    #expect(
      await ServerCurl.lines([h2, "--data-binary", "@-", url], body: [UInt8](repeating: 65, count: 16_384))
        == ["POST /a?b=c 16384 v2", "200 2"])
    #expect(
      await ServerCurl.lines([h2, "--data-binary", "@-", url], body: [UInt8](repeating: 65, count: 16_385))
        == ["413 2"])
    server.stop()
  }

  @Test("Over TLS, ALPN settles on the protocol", .enabled(if: ServerCurl.isInstalled)) @LoopActor
  func overTls() async throws {
    let certificates = await TestCertificates.made()
    let context = try TlsServerContext(
      certificateChainPem: certificates.server, privateKeyPem: certificates.key, alpn: ["h2", "http/1.1"])
    let (server, port, _) = try echoServer(tls: context)
    let trust = ["--cacert", certificates.folder + "ca.pem", "https://localhost:\(port)/a"]
    #expect(await ServerCurl.lines(["--http2"] + trust) == ["GET /a? 0 v2", "200 2"])
    #expect(await ServerCurl.lines(["--http1.1"] + trust) == ["GET /a? 0 v1", "200 1.1"])
    #expect(await ServerCurl.lines(["--no-alpn"] + trust) == ["GET /a? 0 v1", "200 1.1"])
    // No more than a record of TLS holds, and much more.
    let body = [UInt8](repeating: 65, count: 16_384)
    #expect(
      await ServerCurl.lines(["--http2", "--data-binary", "@-"] + trust, body: body).first == "POST /a? 16384 v2")
    #expect(
      await ServerCurl.lines(["--http1.1", "--data-binary", "@-"] + trust, body: body).first == "POST /a? 16384 v1")
    server.stop()
  }

  @Test(
    "A TLS handshake that does not come about is cut", arguments: ["", "GET / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}"])
  @LoopActor
  func handshakeCut(start: String) async throws {
    let certificates = await TestCertificates.made()
    let context = try TlsServerContext(
      certificateChainPem: certificates.server, privateKeyPem: certificates.key, alpn: ["h2", "http/1.1"])
    let (server, port, log) = try echoServer(tls: context) { $0.tlsHandshake = 100 }
    let client = ServerSocket(port: port)
    await client.send(start)
    _ = await client.readToEnd()
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
    #expect(log.lines.isEmpty)
    server.stop()
  }

  @Test("A preface cut anywhere is recognised", arguments: [1, 3, 23, 24, 30]) @LoopActor
  func cutPreface(at: Int) async throws {
    let (server, port, log) = try echoServer()
    let client = ServerSocket(port: port)
    let bytes = ServerFrame.hello + ServerFrame.head(1)
    await client.send(Array(bytes[..<at]))
    await until { server.acceptedConnections > 0 }
    await client.send(Array(bytes[at...]))
    #expect(await client.frame(.headers)?.payload.first == 0x88)
    #expect(log.lines == ["GET / 0"])
    server.stop()
  }

  @Test("Streams are answered as their handlers end, not in the order they came") @LoopActor
  func multiplexed() async throws {
    let gate = ServerGate()
    let server = HttpServer(limits: .patient) { request, exchange in
      if request.path == "/slow" { await gate.passed() }
      return HttpResponse(status: 200, body: Array("\(exchange.requestsOnConnection)".utf8))
    }
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0))
    await client.send(
      ServerFrame.hello + ServerFrame.head(1, ServerFrame.request("GET", "/slow")) + ServerFrame.head(3))
    let first = await client.frame(.data)
    #expect(first?.stream == 3 && first?.payload == Array("2".utf8))
    gate.open()
    let second = await client.frame(.data)
    #expect(second?.stream == 1 && second?.payload == Array("1".utf8))
    server.stop()
  }

  @Test("Bodies that are too large are answered early and do not count against later ones") @LoopActor
  func tooLarge() async throws {
    let (server, port, log) = try echoServer {
      $0.request.body = 10_000
      $0.streamBodies = 20_000
      $0.linger = 20
    }
    let client = ServerSocket(port: port)
    await client.send(ServerFrame.hello)
    let part = [UInt8](repeating: 65, count: 9_000)
    for n in UInt32(0)..<20 {
      let id = 2 * n + 1
      await client.send(
        ServerFrame.head(id, ServerFrame.request("POST"), ends: false) + ServerFrame.data(id, part, ends: false))
      await client.send(ServerFrame.data(id, part, ends: false))
      // The reply, and in time word that the rest of the body is of no use.
      #expect(await client.frame(.headers)?.stream == id)
      let reset = await client.frame(.reset)
      #expect(reset?.stream == id && reset?.code == 0)
    }
    await client.send(
      ServerFrame.head(41, ServerFrame.request("POST"), ends: false) + ServerFrame.data(41, part, ends: true))
    #expect(await client.frame(.headers)?.payload.first == 0x88)
    #expect(log.lines == Array(repeating: "POST / too large", count: 20) + ["POST / 9000"])
    server.stop()
  }

  @Test("A peer that sends on after its reply is let finish, up to a bound", arguments: [8, 40]) @LoopActor
  func sendsOn(parts: Int) async throws {
    let (server, port, _) = try echoServer { $0.discarded = 100_000 }
    let client = ServerSocket(port: port)
    await client.send(ServerFrame.hello)
    await client.send(
      ServerFrame.head(1, ServerFrame.request("POST", "/", [("content-length", "1000000")]), ends: false))
    #expect(await client.frame(.headers)?.stream == 1)
    for _ in 0..<parts { await client.send(ServerFrame.data(1, [UInt8](repeating: 65, count: 10_000), ends: false)) }
    if parts * 10_000 > 100_000 {
      let reset = await client.frame(.reset)
      #expect(reset?.stream == 1 && reset?.code == 0)
    }
    await client.send(ServerFrame.head(3))
    let next = await client.frame(.headers)
    #expect(next?.stream == 3 && next?.payload.first == 0x88)
    server.stop()
  }

  @Test("Unfinished bodies are bounded all together") @LoopActor
  func bodiesTogether() async throws {
    let (server, port, log) = try echoServer { $0.streamBodies = 20_000 }
    let client = ServerSocket(port: port)
    await client.send(ServerFrame.hello)
    let part = [UInt8](repeating: 65, count: 9_000)
    for id: UInt32 in [1, 3, 5] {
      await client.send(
        ServerFrame.head(id, ServerFrame.request("POST"), ends: false) + ServerFrame.data(id, part, ends: false))
    }
    let reset = await client.frame(.reset)
    #expect(reset?.stream == 5 && reset?.code == 11)
    for id: UInt32 in [1, 3] { await client.send(ServerFrame.data(id, [], ends: true)) }
    #expect(await client.frame(.headers)?.payload.first == 0x88)
    #expect(await client.frame(.headers)?.payload.first == 0x88)
    #expect(log.lines == ["POST / 9000", "POST / 9000"])
    server.stop()
  }

  @Test("Drain says GOAWAY, answers what is in hand and closes") @LoopActor
  func drain() async throws {
    let running = ServerGate()
    let gate = ServerGate()
    let server = HttpServer(limits: .patient) { _, _ in
      running.open()
      await gate.passed()
      return HttpResponse(status: 200)
    }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    let idle = ServerSocket(port: port)
    await idle.send(ServerFrame.hello)
    #expect(await idle.frame(.settings) != nil)
    let busy = ServerSocket(port: port)
    await busy.send(ServerFrame.hello + ServerFrame.head(1))
    await running.passed()
    server.drain()
    let goAway = await busy.frame(.goAway)
    #expect(goAway?.number(at: 0) == 1 && goAway?.number(at: 4) == 0)
    #expect(await idle.frame(.goAway)?.number(at: 0) == 0)
    #expect(await idle.frame() == nil)
    // Not looked at: the peer was told so by the stream that GOAWAY names.
    await busy.send(ServerFrame.head(3))
    gate.open()
    #expect(await busy.frame(.headers)?.stream == 1)
    #expect(await busy.frame() == nil)
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
  }
}
