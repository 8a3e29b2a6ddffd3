import Loop
import Testing

@testable import Http

@Suite("HTTP/2 server's deadlines")
struct ServerHttp2DeadlineTests {
  @LoopActor
  private func start(
    _ change: (inout HttpServerLimits) -> Void, body: Int = 0
  ) async throws -> (HttpServer, ServerSocket) {
    var limits = HttpServerLimits.patient
    change(&limits)
    let server = HttpServer(limits: limits) { _, _ in
      HttpResponse(status: 200, body: [UInt8](repeating: 65, count: body))
    }
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0))
    return (server, client)
  }

  @Test("A head that does not end is cut, though the connection is busy otherwise") @LoopActor
  func head() async throws {
    let (server, client) = try await start { $0.head = 150 }
    let part = ServerFrame(.headers, flags: ServerFrame.endStream, stream: 3, ServerFrame.request())
    await client.send(ServerFrame.hello + ServerFrame.head(1) + part.bytes)
    #expect(await client.frame(.headers)?.stream == 1)
    #expect(await client.frame(.headers) == nil)
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
    server.stop()
  }

  @Test("A body that does not end is cut, and the connection lives on") @LoopActor
  func body() async throws {
    let (server, client) = try await start { $0.body = 150 }
    await client.send(ServerFrame.hello + ServerFrame.head(1, ServerFrame.request("POST"), ends: false))
    let reset = await client.frame(.reset)
    #expect(reset?.stream == 1 && reset?.code == 8)
    await client.send(ServerFrame.head(3))
    #expect(await client.frame(.headers)?.stream == 3)
    server.stop()
  }

  @Test("An idle connection is told GOAWAY and closed, fresh or used", arguments: [false, true]) @LoopActor
  func idle(used: Bool) async throws {
    let (server, client) = try await start { $0.idle = 150 }
    await client.send(ServerFrame.hello + (used ? ServerFrame.head(1) : []))
    let goAway = await client.frame(.goAway)
    #expect(goAway?.number(at: 0) == (used ? 1 : 0) && goAway?.number(at: 4) == 0)
    #expect(await client.frame() == nil)
    server.stop()
  }

  @Test("Pings do not keep an idle connection") @LoopActor
  func pings() async throws {
    let (server, client) = try await start { $0.idle = 150 }
    await client.send(ServerFrame.hello)
    await client.drip(String(decoding: ServerFrame(.ping, [UInt8](repeating: 65, count: 8)).bytes, as: UTF8.self))
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
    server.stop()
  }

  @Test("A reply that the peer leaves no window for is given up") @LoopActor
  func noWindow() async throws {
    let (server, client) = try await start({ $0.write = 150 }, body: 1_000)
    // SETTINGS_INITIAL_WINDOW_SIZE 0.
    let settings = ServerFrame(.settings, [0, 4, 0, 0, 0, 0])
    await client.send(ServerFrame.preface + settings.bytes + ServerFrame.head(1))
    #expect(await client.frame(.headers)?.stream == 1)
    let reset = await client.frame(.reset)
    #expect(reset?.stream == 1 && reset?.code == 8)
    server.stop()
  }

  @Test("A peer that does not read is not read, and cut in time") @LoopActor
  func slowReader() async throws {
    let (server, _) = try await start({ $0.write = 150 }, body: 100_000)
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0), receiveBuffer: 4_096)
    // The largest windows there are.
    let settings = ServerFrame(.settings, [0, 4, 0x7f, 0xff, 0xff, 0xff])
    let window = ServerFrame(.windowUpdate, ServerFrame.number(0x7fff_0000))
    await client.send(ServerFrame.preface + settings.bytes + window.bytes)
    for id in UInt32(0)..<200 { await client.send(ServerFrame.head(2 * id + 1)) }
    await until { server.acceptedConnections == 2 }
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
    #expect(await client.readToEnd().count < 200 * 100_000)
    server.stop()
  }
}
