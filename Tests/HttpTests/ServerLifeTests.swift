import Loop
import Testing

@testable import Http

private let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

@Suite("A server's connections")
struct ServerLifeTests {
  @Test(
    "Whoever is slow is cut, though it keeps sending",
    arguments: [
      ServerCase("c", "a head", get.dropLast(2) + "A: b"),
      ServerCase("", "a head that begins like HTTP/2's preface", "PR"),
      ServerCase("x", "a body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16000\r\n\r\n"),
      ServerCase("x", "a chunked body", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3000\r\n"),
    ]) @LoopActor
  func slow(request: ServerCase<String>) async throws {
    let log = ServerLog()
    var limits = HttpServerLimits.patient
    limits.head = 150
    limits.body = 150
    let server = HttpServer(limits: limits) { request, _ in
      log.note(request.path)
      return HttpResponse(status: 200)
    }
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0))
    let began = Monotonic.now
    await client.send(request.bytes)
    let drip = request.expected
    if drip.isEmpty { #expect(await client.readToEnd().isEmpty) } else { await client.drip(drip) }
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
    #expect(Monotonic.now.milliseconds(since: began) >= 150)
    #expect(log.lines.isEmpty)
    server.stop()
  }

  @Test("A connection that says nothing is cut, fresh or kept alive") @LoopActor
  func silent() async throws {
    // One limit is short at a time: a peer that is held up by others on this machine may not run into the other.
    for (firstByte, idle) in [(100, 600_000), (600_000, 200)] {
      var limits = HttpServerLimits.patient
      limits.firstByte = firstByte
      limits.idle = idle
      let server = HttpServer(limits: limits) { _, _ in HttpResponse(status: 200) }
      let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0))
      let began = Monotonic.now
      if idle < firstByte {
        await client.send(get)
        #expect(await client.reply()?.status == 200)
      }
      #expect(await client.readToEnd().isEmpty)
      #expect(Monotonic.now.milliseconds(since: began) >= min(firstByte, idle))
      #expect(await server.waitUntilIdle(milliseconds: 60_000))
      server.stop()
    }
  }

  @Test("A peer that does not read its reply is cut") @LoopActor
  func slowReader() async throws {
    var limits = HttpServerLimits.patient
    limits.write = 150
    let server = HttpServer(limits: limits) { _, _ in
      HttpResponse(status: 200, body: [UInt8](repeating: 65, count: 16_000_000))
    }
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0), receiveBuffer: 4_096)
    await client.send(get)
    await until { server.acceptedConnections > 0 }
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
    #expect(await client.readToEnd().count < 16_000_000)
    server.stop()
  }

  @Test("A peer that goes away while a handler runs harms nothing", arguments: [true, false]) @LoopActor
  func peerGone(byReset: Bool) async throws {
    let running = ServerGate()
    let ended = ServerGate()
    let server = HttpServer(limits: .patient) { request, exchange in
      if request.path == "/ok" { return HttpResponse(status: 200) }
      running.open()
      await exchange.hang()
      #expect(exchange.isPeerGone)
      ended.open()
      return HttpResponse(status: 200, body: [UInt8](repeating: 65, count: 100_000))
    }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    var client: ServerSocket? = ServerSocket(port: port)
    await client?.send(get)
    await running.passed()
    if byReset { await client?.reset() }
    client = nil
    await ended.passed()
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
    let other = ServerSocket(port: port)
    await other.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(await other.reply()?.status == 200)
    server.stop()
  }

  @Test("Connections over the limit wait until a busy one ends or is idle") @LoopActor
  func connectionLimit() async throws {
    let gates = (0..<3).map { _ in ServerGate() }
    var limits = HttpServerLimits.patient
    limits.connections = 2
    let server = HttpServer(limits: limits) { request, _ in
      if let place = Int(request.path.dropFirst()) { await gates[place].passed() }
      return HttpResponse(status: 200)
    }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    let clients = (0..<4).map { _ in ServerSocket(port: port) }
    for (place, client) in clients.enumerated() {
      await client.send("GET /\(place < 3 ? "\(place)" : "") HTTP/1.1\r\nHost: x\r\n\r\n")
    }
    await until { server.runningHandlers == 2 }
    #expect(server.acceptedConnections == 2)
    // Busy ones are left alone: the first makes room once it is idle, the second by its end.
    gates[0].open()
    #expect(await clients[0].reply()?.status == 200)
    #expect(await clients[0].readToEnd().isEmpty)
    await until { server.runningHandlers == 2 }
    #expect(server.acceptedConnections == 3 && server.openConnections == 2)
    await clients[1].reset()
    #expect(await clients[3].reply()?.status == 200)
    #expect(server.acceptedConnections == 4 && server.openConnections == 2)
    for gate in gates { gate.open() }
    #expect(await clients[2].reply()?.status == 200)
    server.stop()
  }

  @Test("At the limit a newcomer takes the place of whoever has been idle longest") @LoopActor
  func idleMakeRoom() async throws {
    var limits = HttpServerLimits.patient
    limits.connections = 8
    let server = HttpServer(limits: limits) { _, _ in HttpResponse(status: 200) }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    let idle = (0..<8).map { _ in ServerSocket(port: port) }
    for client in idle {
      await client.send(get)
      #expect(await client.reply()?.status == 200)
    }
    // No longer the one that has been idle longest.
    await idle[0].send(get)
    #expect(await idle[0].reply()?.status == 200)
    var newcomers: [ServerSocket] = []
    for place in 1...3 {
      let fresh = ServerSocket(port: port)
      newcomers.append(fresh)
      await fresh.send(get)
      #expect(await fresh.reply()?.status == 200)
      #expect(server.openConnections == 8)
      #expect(await idle[place].readToEnd().isEmpty)
    }
    #expect(server.acceptedConnections == 8 + newcomers.count)
    await idle[0].send(get)
    #expect(await idle[0].reply()?.status == 200)
    server.stop()
  }

  @Test("An idle HTTP/2 connection makes room as well, and says so") @LoopActor
  func idleHttp2MakesRoom() async throws {
    var limits = HttpServerLimits.patient
    limits.connections = 1
    let server = HttpServer(limits: limits) { _, _ in HttpResponse(status: 200) }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    let bench = Bench(UInt16(port))
    #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
    let fresh = ServerSocket(port: port)
    await fresh.send(get)
    #expect(await fresh.reply()?.status == 200)
    await until { !bench.log.goAways.isEmpty }
    #expect(server.openConnections == 1)
    bench.pool.close()
    server.stop()
  }

  @Test("Drain closes idle connections, lets requests in hand finish and takes no new ones") @LoopActor
  func drain() async throws {
    let running = ServerGate()
    let gate = ServerGate()
    var limits = HttpServerLimits.patient
    limits.linger = 50
    let server = HttpServer(limits: limits) { request, _ in
      if request.path == "/slow" {
        running.open()
        await gate.passed()
      }
      return HttpResponse(status: 200, body: Array(request.path.utf8))
    }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    let fresh = ServerSocket(port: port)
    let idle = ServerSocket(port: port)
    let half = ServerSocket(port: port)
    let busy = ServerSocket(port: port)
    await idle.send(get)
    #expect(await idle.reply()?.field("connection") == nil)
    await half.send(get + "GET /half HT")
    #expect(await half.reply()?.status == 200)
    await busy.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
    await running.passed()
    server.drain()
    #expect(await fresh.readToEnd().isEmpty)
    #expect(await idle.readToEnd().isEmpty)
    await half.send("TP/1.1\r\nHost: x\r\n\r\n")
    let last = try #require(await half.reply())
    #expect(last.body == "/half")
    #expect(last.field("connection") == "close")
    #expect(await server.waitUntilIdle(milliseconds: 1) == false)
    gate.open()
    let reply = try #require(await busy.reply())
    #expect(reply.body == "/slow")
    #expect(reply.field("connection") == "close")
    #expect(await busy.readToEnd().isEmpty)
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
    let late = ServerSocket(port: port)
    #expect(await late.send(get) == false)
  }

  @Test("A handler may close the connection instead of replying") @LoopActor
  func closedByHandler() async throws {
    let server = HttpServer(limits: .patient) { request, exchange in
      if request.path == "/close" { exchange.closeConnection() }
      #expect(!exchange.isHttp2)
      return nil
    }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    for path in ["/close", "/nothing"] {
      let client = ServerSocket(port: port)
      await client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(await client.readToEnd().isEmpty)
    }
    server.stop()
  }

  @Test("Listening says in one line why it cannot") @LoopActor
  func listenFailures() async throws {
    let server = HttpServer(limits: .patient) { _, _ in nil }
    let port = try server.listen(address: "*", port: 0)
    let again = #expect(throws: ListenFailure.self) { try server.listen(address: "*", port: port) }
    #expect(again?.description == "port \(port) is taken (address *)")
    let name = #expect(throws: ListenFailure.self) { try server.listen(address: "example", port: 0) }
    #expect(name?.description == "example is not an address to listen on")
    let foreign = #expect(throws: ListenFailure.self) { try server.listen(address: "192.0.2.1", port: 0) }
    #expect(foreign?.description == "address 192.0.2.1 is not one of this machine's (port 0)")
    let high = #expect(throws: ListenFailure.self) { try server.listen(address: "*", port: 65_536) }
    #expect(high?.description == "65536 is not a port")
    server.stop()
  }

  @Test("Listening on all addresses takes IPv4 and shows its peer as IPv4") @LoopActor
  func dualStack() async throws {
    let server = HttpServer(limits: .patient) { request, _ in HttpResponse(status: 200, body: Array(request.peer.utf8))
    }
    let client = ServerSocket(port: try server.listen(address: "*", port: 0))
    await client.send(get)
    #expect(await client.reply()?.body == "127.0.0.1")
    server.stop()
  }
}
