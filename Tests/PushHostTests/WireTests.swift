import Foundation
import Json
import Testing

@testable import PushHost

/// The client over real sockets, against a gateway that misbehaves.
@Suite(.timeLimit(.minutes(2))) struct WireTests {
  /// A server that plays a gateway, except where `act` says otherwise.
  private struct Played {
    let gateway: PlayedGateway
    let server: ScriptedServer
    let client: GatewayClient

    init(
      deadline: Int64? = nil,
      _ act: @escaping @Sendable (HttpCall, PlayedGateway) -> ScriptedServer.Act? = { _, _ in nil }
    )
      throws
    {
      let gateway = PlayedGateway(clock: .system)
      server = try ScriptedServer { call in
        gateway.state.withLock { $0.calls.append(call) }
        if let act = act(call, gateway) { return act }
        switch gateway.answer(call) {
        case .success(let reply): return .reply(reply)
        case .failure: return .reset
        }
      }
      self.gateway = gateway
      let transport = UrlSessionTransport(address: "http://127.0.0.1:\(server.port)")
      client = GatewayClient(
        origin: gateway.origin, keys: PlayedGateway.keys,
        transport: deadline.map { Hurried(transport: transport, deadline: $0) } ?? transport
          as any Transport)
    }
  }

  /// The same with less patience.
  private struct Hurried: Transport {
    let transport: UrlSessionTransport
    let deadline: Int64

    func exchange(_ call: HttpCall, deadline: Int64) async -> Result<HttpReply, Unreachable> {
      #expect(deadline == 15_000)
      return await transport.exchange(call, deadline: self.deadline)
    }
  }

  private static let token = PhoneToken.android(String(repeating: "a", count: 40))

  @Test func `A phone is registered, sent to, listed and deleted over the wire`() async throws {
    let played = try Played()
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
    let played = try Played()
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
    let played = try Played()
    played.gateway.play("POST /v1/devices", .reply(.error(status, code, retryAfter: "9")))
    #expect(await played.client.register(deviceId: "a", token: Self.token).failure == fault)
    #expect(played.gateway.count("POST /v1/devices") == 1)
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `A redirect is never followed`(status: Int) async throws {
    let elsewhere = try Played()
    let there = "http://127.0.0.1:\(elsewhere.server.port)/v1/devices"
    let played = try Played { call, _ in
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
    let played = try Played(deadline: 300) { call, _ in call.path == "/v1/devices" ? .hang : nil }
    #expect(await played.client.devices().failure == .unreachable(.deadline))
  }

  @Test func `A gateway that trickles is given up at the deadline`() async throws {
    // A byte of body and no more: a pause between bytes alone would never end it.
    let played = try Played(deadline: 300) { call, _ in
      call.path == "/v1/devices"
        ? .bytes(Array("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".utf8)) : nil
    }
    let failure = await played.client.devices().failure
    #expect([.unreachable(.deadline), .unreachable(.noConnection)].contains(failure))
  }

  @Test func `A caller that is cancelled does not wait for the gateway`() async throws {
    let (began, begin) = AsyncStream<Void>.makeStream()
    let played = try Played { call, _ in
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
    let played = try Played { call, _ in
      call.path == "/v1/devices" ? .bytes(Array(bytes.utf8)) : nil
    }
    let failure = await played.client.devices().failure
    guard case .unreachable? = failure else {
      Issue.record("\(failure as Any)")
      return
    }
  }

  @Test func `An answer without end is cut off`() async throws {
    let endless =
      Array("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".utf8)
      + [UInt8](repeating: 32, count: 3 << 20)
    let played = try Played { call, _ in call.path == "/v1/devices" ? .bytes(endless) : nil }
    #expect(await played.client.devices().failure == .unreachable(.garbled))
  }

  @Test func `A connection that is cut, or that nobody takes, is told as such`() async throws {
    let played = try Played { call, _ in call.path == "/v1/devices" ? .reset : nil }
    #expect(await played.client.devices().failure == .unreachable(.noConnection))
    let port = try { try ScriptedServer { _ in .reset }.port }()
    let nobody = UrlSessionTransport(address: "http://127.0.0.1:\(port)")
    let client = GatewayClient(
      origin: "http://127.0.0.1:\(port)", keys: PlayedGateway.keys, transport: nobody)
    #expect(await client.devices().failure == .unreachable(.noConnection))
  }

  @Test func `A server that speaks no TLS is a fault of TLS`() async throws {
    let server = try ScriptedServer { _ in .reset }
    // What it reads is no HTTP, so it answers in the clear at once.
    let plain = UrlSessionTransport(address: "https://127.0.0.1:\(server.port)")
    let client = GatewayClient(
      origin: "https://a", keys: PlayedGateway.keys,
      transport: Hurried(transport: plain, deadline: 5_000))
    let failure = await client.devices().failure
    guard case .unreachable? = failure else {
      Issue.record("\(failure as Any)")
      return
    }
  }

  @Test func `A certificate that nobody vouches for is a fault of TLS`() async throws {
    let server = try await TlsServer.start()
    defer { server.stop() }
    let client = try GatewayClient(
      gateway: "https://127.0.0.1:\(server.port)", keys: PlayedGateway.keys)
    #expect(await client.devices().failure == .unreachable(.tls))
  }
}
