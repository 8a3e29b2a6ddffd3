import Foundation
import Json
import Testing

@testable import PushHost

/// The client over real sockets, against a gateway that misbehaves.
@Suite(.timeLimit(.minutes(2))) struct WireTests {
  private static let token = PhoneToken.android(String(repeating: "a", count: 40))

  @Test func `A phone is registered, sent to, listed and deleted over the wire`() async throws {
    let played = try WiredGateway()
    let id = try await played.client.register(deviceId: "a", token: Self.token).get()
    let alert = PushNotification(seq: 1, epoch: "e", source: .plugin, title: "Ä 👩‍👩‍👧")
    #expect(
      try await played.client.send(alert, to: [id]).get() == [
        SendResult(registrationId: id, status: .queued)
      ])
    #expect(try await played.client.devices().get().count == 1)
    #expect(try await played.client.unregister(id).get())
    #expect(
      played.gateway.bodies("POST /v1/send").first?["notification"]?["title"]?.string == "Ä 👩‍👩‍👧")
  }

  @Test func `401 once is renewed over the wire; 401 for ever is not asked for ever`() async throws {
    let played = try WiredGateway()
    played.gateway.play("GET /v1/devices", .reply(.error(401, "session_expired")))
    #expect(try await played.client.devices().get().isEmpty)
    #expect(played.gateway.count("POST /v1/host/session") == 2)
    let refusal = HttpReply.error(401, "invalid_token")
    played.gateway.play("GET /v1/devices", .reply(refusal), .reply(refusal), .reply(refusal))
    #expect(
      await played.client.devices().failure
        == .rejected(Rejection(status: 401, reason: "invalid_token")))
    #expect(
      await played.client.devices().failure
        == .rejected(Rejection(status: 401, reason: "invalid_token")))
    #expect(played.gateway.count("GET /v1/devices") == 4)
    #expect(played.gateway.count("POST /v1/host/session") == 3)
  }

  @Test(arguments: [
    (
      409, "too_many_devices",
      GatewayFault.rejected(Rejection(status: 409, reason: "too_many_devices"))
    ),
    (413, "request_too_large", .rejected(Rejection(status: 413, reason: "request_too_large"))),
    (429, "rate_limited", .throttled(retryAfter: 9)),
    (500, "internal", .unreachable(.serverFault(status: 500, code: "internal"))),
    (503, "busy", .unreachable(.serverFault(status: 503, code: "busy"))),
  ])
  func `A refusal comes through`(status: Int, code: String, fault: GatewayFault) async throws {
    let played = try WiredGateway()
    played.gateway.play("POST /v1/devices", .reply(.error(status, code, retryAfter: "9")))
    #expect(await played.client.register(deviceId: "a", token: Self.token).failure == fault)
    #expect(played.gateway.count("POST /v1/devices") == 1)
  }

  @Test(arguments: ["Basic realm=\"a\"", "Bearer realm=\"a\"", "Digest realm=\"a\", nonce=\"b\"", "Negotiate"])
  func `Whoever asks for a password on the way gets none, and a refusal comes of it`(wanted: String) async throws {
    let wired = try WiredGateway(deadline: 5_000) { call, _ in
      call.path == "/v1/devices" ? .reply(HttpReply(status: 401), ["www-authenticate: \(wanted)"]) : nil
    }
    #expect(await wired.client.devices().failure == .rejected(Rejection(status: 401, reason: "http")))
    #expect(wired.gateway.count("GET /v1/devices") == 2)
  }

  @Test func `An answer that has others before it is the last of them`() async throws {
    let body = #"{"devices":[]}"#
    let hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: \(body.utf8.count)\r\nconnection: close\r\n\r\n\(body)"
    let wired = try WiredGateway(deadline: 5_000) { call, _ in
      call.path == "/v1/devices" ? .bytes(Array((hints + answer).utf8)) : nil
    }
    #expect(try await wired.client.devices().get().isEmpty)
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `A redirect is never followed`(status: Int) async throws {
    let elsewhere = try WiredGateway()
    let there = "http://127.0.0.1:\(elsewhere.server.port)/v1/devices"
    let played = try WiredGateway { call, _ in
      call.path == "/v1/devices" ? .reply(HttpReply(status: status), ["location: \(there)"]) : nil
    }
    let refused = GatewayFault.rejected(
      Rejection(status: status, reason: "redirect", detail: "redirects are not followed"))
    #expect(await played.client.devices().failure == refused)
    #expect(await played.client.register(deviceId: "a", token: Self.token).failure == refused)
    #expect(elsewhere.gateway.routes.isEmpty)
    #expect(played.gateway.count("GET /v1/devices") == 1)
  }

  @Test func `A gateway that says nothing is given up at the deadline`() async throws {
    let played = try WiredGateway(deadline: 300) { call, _ in call.path == "/v1/devices" ? .hang : nil }
    #expect(await played.client.devices().failure == .unreachable(.deadline))
  }

  @Test func `A gateway that trickles is given up at the deadline`() async throws {
    // A byte of body and no more: a pause between bytes alone would never end it.
    let played = try WiredGateway(deadline: 300) { call, _ in
      call.path == "/v1/devices"
        ? .bytes(Array("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".utf8)) : nil
    }
    let failure = await played.client.devices().failure
    #expect([.unreachable(.deadline), .unreachable(.noConnection)].contains(failure))
  }

  @Test func `A caller that is cancelled does not wait for the gateway`() async throws {
    let (began, begin) = AsyncStream<Void>.makeStream()
    let played = try WiredGateway { call, _ in
      guard call.path == "/v1/devices" else { return nil }
      begin.yield()
      return .hang
    }
    let client = played.client
    let call = Task { await client.devices() }
    for await _ in began { break }
    call.cancel()
    #expect(await call.value.failure == .unreachable(.deadline))
  }

  @Test(arguments: [
    "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<html>sign in</html>", "\u{0}\u{1}\u{2}",
    "HTTP/1.1 999\r\n\r\n",
  ])
  func `Garbage is no answer`(bytes: String) async throws {
    let played = try WiredGateway { call, _ in
      call.path == "/v1/devices" ? .bytes(Array(bytes.utf8)) : nil
    }
    let failure = await played.client.devices().failure
    guard case .unreachable? = failure else {
      Issue.record("\(failure as Any)")
      return
    }
  }

  @Test(arguments: [
    "HTTP/1.1 302 Found\r\n", "HTTP/1.1 302 Found\r\nlocation:\r\n", "HTTP/1.1 302 Found\r\nlocation: ::::\r\n",
    "HTTP/1.1 302 Found\r\nlocation: http://\r\n", "HTTP/1.1 302 Found\r\nlocation: http:///a\r\n",
    "HTTP/1.1 302 Found\r\nlocation: ftp://a/b\r\n", "HTTP/1.1 302 Found\r\nlocation: /a b|c\r\n",
    "HTTP/1.1 302 Found\r\nlocation: //[\r\n", "HTTP/1.1 302 Found\r\nlocation: ?q\r\n",
    "HTTP/1.1 302 Found\r\nlocation: mailto:a\r\n", "HTTP/1.1 302 Found\r\nlocation: http://a:99999/\r\n",
    "HTTP/1.1 401 No\r\nwww-authenticate:\r\n", "HTTP/1.1 401 No\r\nwww-authenticate: Basic\r\n",
    "HTTP/1.1 401 No\r\nwww-authenticate: Basic realm=\r\n", "HTTP/1.1 401 No\r\nwww-authenticate: ,,=\"\r\n",
    "HTTP/1.1 407 No\r\nproxy-authenticate: Basic realm=\"a\"\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n",
    "HTTP/1.1 200 OK\r\n: none\r\n", "HTTP/1.1 200 OK\r\na: b\r\n folded\r\n", "HTTP/1.1 200\r\n", "HTTP/1.1 0\r\n",
    "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n", "HTTP/1.1 200 OK\r\nset-cookie: a=b; domain=.\r\n",
    "HTTP/1.1 200 OK\r\ncontent-type: \u{ff}\u{0}\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n",
    "HTTP/1.1 204 No\r\ncontent-length: 9\r\n", "HTTP/1.1 101 Switching\r\nupgrade: h2c\r\n", "HTTP/1.0 200\r\n",
    "HTTP/1.1 503 No\r\nretry-after: \u{1}\r\n", "HTTP/9.9 200 OK\r\n", "HTTP/1.1 -1 OK\r\n",
  ])
  func `No head of an answer, however odd, is taken for a yes, or ends the host`(head: String) async throws {
    let wired = try WiredGateway(deadline: 3_000) { call, _ in
      call.path == "/v1/devices" ? .bytes(Array((head + "connection: close\r\n\r\n").utf8)) : nil
    }
    #expect(await wired.client.devices().failure != nil)
  }

  @Test func `An answer without end is cut off`() async throws {
    let endless =
      Array("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".utf8)
      + [UInt8](repeating: 32, count: 3 << 20)
    let played = try WiredGateway { call, _ in call.path == "/v1/devices" ? .bytes(endless) : nil }
    #expect(await played.client.devices().failure == .unreachable(.garbled))
  }

  @Test func `A connection that is cut, or that nobody takes, is told as such`() async throws {
    let played = try WiredGateway { call, _ in call.path == "/v1/devices" ? .reset : nil }
    #expect(await played.client.devices().failure == .unreachable(.noConnection))
    let port = try { try ScriptedServer { _ in .reset }.port }()
    let nobody = UrlSessionTransport(address: "http://127.0.0.1:\(port)")
    let client = GatewayClient(
      origin: "http://127.0.0.1:\(port)", keys: PlayedGateway.keys, transport: nobody)
    #expect(await client.devices().failure == .unreachable(.refused))
  }

  @Test(
    arguments: [
      (nil, "127.0.0.1"), ("", "127.0.0.1"), ("a.example", "a.example,127.0.0.1"), ("*", nil), ("a, 127.0.0.1", nil),
      ("127.0.0.11", "127.0.0.11,127.0.0.1"),
    ] as [(String?, String?)])
  func `This machine joins what needs no proxy, once`(exceptions: String?, joined: String?) {
    #expect(DirectWay.with("127.0.0.1", exceptions) == joined)
  }

  @Test func `A name that nobody knows is told as such`() async throws {
    // Names below .invalid are never given out (RFC 2606).
    let client = try GatewayClient(gateway: "https://push.invalid", keys: PlayedGateway.keys)
    #expect(await client.devices().failure == .unreachable(.unknownName))
  }

  @Test(arguments: [
    ("SSL certificate problem: self-signed certificate", TlsTrouble.untrusted),
    ("SSL certificate problem: unable to get local issuer certificate", .untrusted),
    ("SSL certificate problem: certificate has expired", .outdated),
    ("SSL certificate problem: certificate is not yet valid", .outdated),
    ("SSL: no alternative certificate subject name matches target host name 'a.example'", .otherName),
    ("error:0A00010B:SSL routines::wrong version number", .noAgreement),
    ("OpenSSL SSL_connect: Connection reset by peer in connection to a:443", .noAgreement),
    ("Empty reply from server", nil),
  ])
  func `What libcurl says of TLS is told apart`(words: String, trouble: TlsTrouble?) {
    #expect(TlsTrouble(curl: words) == trouble)
  }

  @Test func `A server that speaks no TLS is a fault of TLS`() async throws {
    let server = try ScriptedServer { _ in .reset }
    // What it reads is no HTTP, so it answers in the clear at once.
    let plain = UrlSessionTransport(address: "https://127.0.0.1:\(server.port)")
    let client = GatewayClient(
      origin: "https://a", keys: PlayedGateway.keys,
      transport: WiredGateway.Hurried(transport: plain, deadline: 5_000))
    #expect(await client.devices().failure == .unreachable(.tls(.noAgreement)))
  }

  @Test func `A certificate that nobody vouches for is a fault of TLS`() async throws {
    let server = try await TlsServer.start()
    defer { server.stop() }
    let client = try GatewayClient(
      gateway: "https://127.0.0.1:\(server.port)", keys: PlayedGateway.keys)
    #expect(await client.devices().failure == .unreachable(.tls(.untrusted)))
  }
}
