import Loop
import Testing

@testable import Http

@Suite("What a handler does to an HTTP/2 connection")
struct ServerExchangeTests {
  @LoopActor
  private func start(_ handler: @escaping HttpServer.Handler) async throws -> (HttpServer, ServerSocket) {
    let server = HttpServer(limits: .patient, handler: handler)
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0))
    await client.send(ServerFrame.hello + ServerFrame.head(1))
    return (server, client)
  }

  @Test("Refuses or resets its stream alone") @LoopActor
  func reset() async throws {
    let (server, client) = try await start { _, exchange in
      if exchange.streamId == 1 { exchange.refuse() }
      if exchange.streamId == 3 { exchange.resetStream(code: 2) }
      return exchange.streamId == 5 ? HttpResponse(status: 200) : nil
    }
    await client.send(ServerFrame.head(3) + ServerFrame.head(5))
    let refused = await client.frame(.reset)
    #expect(refused?.stream == 1 && refused?.code == 7)
    let reset = await client.frame(.reset)
    #expect(reset?.stream == 3 && reset?.code == 2)
    #expect(await client.frame(.headers)?.stream == 5)
    server.stop()
  }

  @Test("Says GOAWAY with debug data, answers this stream and lets the connection end") @LoopActor
  func goAway() async throws {
    let (server, client) = try await start { _, exchange in
      exchange.goAway(code: 0, debug: Array(#"{"reason":"Shutdown"}"#.utf8))
      return HttpResponse(status: 200)
    }
    let frame = try #require(await client.frame(.goAway))
    #expect(frame.number(at: 0) == 1 && frame.number(at: 4) == 0)
    #expect(String(decoding: frame.payload[8...], as: UTF8.self) == #"{"reason":"Shutdown"}"#)
    #expect(await client.frame(.headers)?.stream == 1)
    #expect(await client.frame() == nil)
    server.stop()
  }

  @Test("Can leave the close after GOAWAY to the peer") @LoopActor
  func goAwayAndStay() async throws {
    let server = HttpServer { _, exchange in
      exchange.goAway(keepsOpen: true)
      return HttpResponse(status: 200)
    }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    let client = ServerSocket(port: port)
    await client.send(ServerFrame.hello + ServerFrame.head(1))
    #expect(await client.frame(.goAway) != nil)
    #expect(await client.frame(.headers)?.stream == 1)
    // What another connection does meanwhile leaves it time to close.
    let second = ServerSocket(port: port)
    await second.send(ServerFrame.hello + ServerFrame.head(1))
    #expect(await second.frame(.headers)?.stream == 1)
    #expect(server.openConnections == 2)
    await client.finishSending()
    await second.finishSending()
    #expect(await server.waitUntilIdle(milliseconds: 5_000))
    server.stop()
  }

  @Test("Leaves streams above the one that GOAWAY names unanswered") @LoopActor
  func goAwayBelow() async throws {
    let (server, client) = try await start { _, exchange in
      if exchange.streamId == 3 { exchange.goAway(lastStreamId: 1, code: 2) } else { await exchange.hang() }
      return nil
    }
    await client.send(ServerFrame.head(3))
    let frame = try #require(await client.frame(.goAway))
    #expect(frame.number(at: 0) == 1 && frame.number(at: 4) == 2)
    server.stop()
    #expect(await client.frame(.headers) == nil)
  }

  @Test("Announces how many streams may be open") @LoopActor
  func announce() async throws {
    var limits = HttpServerLimits.patient
    limits.streams = 1
    let server = HttpServer(limits: limits) { _, exchange in
      exchange.announce(maxConcurrentStreams: 1_000)
      return HttpResponse(status: 200)
    }
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0))
    await client.send(ServerFrame.hello + ServerFrame.head(1))
    let first = try #require(await client.frame(.settings))
    #expect(first.payload.prefix(6) == [0, 3, 0, 0, 0, 1])
    let second = try #require(await client.frame(.settings))
    #expect(second.payload == [0, 3, 0, 0, 3, 232])
    server.stop()
  }

  @Test("Streams over the announced limit are refused") @LoopActor
  func overLimit() async throws {
    var limits = HttpServerLimits.patient
    limits.streams = 1
    let server = HttpServer(limits: limits) { _, exchange in
      await exchange.hang()
      return nil
    }
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0))
    await client.send(ServerFrame.hello + ServerFrame.head(1) + ServerFrame.head(3))
    let reset = await client.frame(.reset)
    #expect(reset?.stream == 3 && reset?.code == 7)
    server.stop()
  }

  @Test("Hangs until the peer resets the stream, or the connection ends", arguments: [true, false]) @LoopActor
  func hang(byReset: Bool) async throws {
    let running = ServerGate()
    let ended = ServerGate()
    let (server, client) = try await start { _, exchange in
      running.open()
      await exchange.hang()
      #expect(exchange.isPeerGone)
      // Harmless by now.
      exchange.refuse()
      exchange.goAway()
      exchange.announce(maxConcurrentStreams: 1)
      ended.open()
      return HttpResponse(status: 200)
    }
    await running.passed()
    if byReset {
      await client.send(ServerFrame(.reset, stream: 1, ServerFrame.number(8)).bytes)
    } else {
      await client.finishSending()
    }
    await ended.passed()
    server.stop()
  }

  @Test("Closes the connection abruptly, and what it says afterwards is harmless") @LoopActor
  func close() async throws {
    let (server, client) = try await start { _, exchange in
      #expect(exchange.isHttp2)
      exchange.closeConnection()
      exchange.refuse()
      exchange.goAway()
      return HttpResponse(status: 200)
    }
    #expect(await client.frame(.headers) == nil)
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
    server.stop()
  }
}
