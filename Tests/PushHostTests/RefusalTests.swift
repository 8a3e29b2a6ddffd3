import Testing

@testable import PushHost

/// Each call over real sockets, against each way in which a gateway can fail it.
@Suite(.timeLimit(.minutes(3))) struct RefusalTests {
  /// What a host asks of a gateway.
  enum Call: CaseIterable {
    case register, unregister, list, send, dismiss

    var route: String {
      switch self {
      case .register: "POST /v1/devices"
      case .unregister: "DELETE /v1/devices/r1"
      case .list: "GET /v1/devices"
      case .send, .dismiss: "POST /v1/send"
      }
    }

    /// Makes the call; what went wrong with it.
    func failure(_ client: GatewayClient) async -> GatewayFault? {
      let token = PhoneToken.android(String(repeating: "a", count: 40))
      let alert = PushNotification(id: "n", seq: 1, epoch: "e", source: .plugin, title: "Build")
      return switch self {
      case .register: await client.register(deviceId: "a", token: token).failure
      case .unregister: await client.unregister("r1").failure
      case .list: await client.devices().failure
      case .send: await client.send(alert, to: ["r1"]).failure
      case .dismiss: await client.send(alert.dismissal(seq: 2), to: ["r1"]).failure
      }
    }
  }

  private static let session = "POST /v1/host/session"

  @Test(arguments: Call.allCases)
  func `A 401 once is mended by one new proof`(call: Call) async throws {
    let wired = try WiredGateway()
    wired.gateway.play(call.route, .reply(.error(401, "session_expired")))
    #expect(await call.failure(wired.client) == nil)
    #expect(wired.gateway.count(call.route) == 2)
    #expect(wired.gateway.count(Self.session) == 2)
  }

  @Test(arguments: Call.allCases)
  func `A 401 for ever is asked twice, and then not at all`(call: Call) async throws {
    let wired = try WiredGateway()
    let refusal = HttpReply.error(401, "invalid_token")
    wired.gateway.play(call.route, .reply(refusal), .reply(refusal), .reply(refusal), .reply(refusal))
    let refused = GatewayFault.rejected(Rejection(status: 401, reason: "invalid_token"))
    for _ in 0..<3 { #expect(await call.failure(wired.client) == refused) }
    #expect(wired.gateway.count(call.route) == 2)
    #expect(wired.gateway.count(Self.session) == 2)
  }

  @Test(
    arguments: Call.allCases,
    [
      (409, "too_many_devices", .rejected(Rejection(status: 409, reason: "too_many_devices"))),
      (413, "request_too_large", .rejected(Rejection(status: 413, reason: "request_too_large"))),
      (429, "rate_limited", .throttled(retryAfter: 9)),
      (500, "internal", .unreachable(.serverFault(status: 500, code: "internal"))),
      (503, "busy", .unreachable(.serverFault(status: 503, code: "busy"))),
    ] as [(Int, String, GatewayFault)])
  func `A refusal is told as what it is, after one request, and forgotten`(
    call: Call, refusal: (status: Int, code: String, fault: GatewayFault)
  ) async throws {
    let wired = try WiredGateway()
    wired.gateway.play(call.route, .reply(.error(refusal.status, refusal.code, retryAfter: "9")))
    #expect(await call.failure(wired.client) == refusal.fault)
    #expect(wired.gateway.count(call.route) == 1)
    #expect(await call.failure(wired.client) == nil)
    #expect(wired.gateway.count(Self.session) == 1)
  }

  @Test(arguments: Call.allCases)
  func `A redirect is not followed`(call: Call) async throws {
    let elsewhere = try WiredGateway()
    let there = "http://127.0.0.1:\(elsewhere.server.port)/v1/devices"
    let wired = try WiredGateway { made, _ in
      "\(made.method) \(made.path)" == call.route ? .reply(HttpReply(status: 307), ["location: \(there)"]) : nil
    }
    let detail = "redirects are not followed"
    #expect(
      await call.failure(wired.client) == .rejected(Rejection(status: 307, reason: "redirect", detail: detail)))
    #expect(elsewhere.gateway.routes.isEmpty)
    #expect(wired.gateway.count(call.route) == 1)
  }

  @Test(arguments: Call.allCases)
  func `A gateway that hangs is given up`(call: Call) async throws {
    let wired = try WiredGateway(deadline: 2_000) { made, _ in
      "\(made.method) \(made.path)" == call.route ? .hang : nil
    }
    #expect(await call.failure(wired.client) == .unreachable(.deadline))
    #expect(wired.gateway.count(call.route) == 1)
  }

  @Test(arguments: Call.allCases, ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", "SSH-2.0-OpenSSH_9.2\r\n"])
  func `Garbage is no answer`(call: Call, garbage: String) async throws {
    let wired = try WiredGateway { made, _ in
      "\(made.method) \(made.path)" == call.route ? .bytes(Array(garbage.utf8)) : nil
    }
    guard case .unreachable? = await call.failure(wired.client) else {
      Issue.record("taken")
      return
    }
  }

  @Test func `No call trusts a certificate that nobody vouches for`() async throws {
    let server = try await TlsServer.start()
    defer { server.stop() }
    let client = try GatewayClient(gateway: "https://127.0.0.1:\(server.port)", keys: PlayedGateway.keys)
    for call in Call.allCases { #expect(await call.failure(client) == .unreachable(.tls(.untrusted))) }
  }
}
