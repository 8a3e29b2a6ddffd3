import Loop
import Testing

@testable import Http

/// A server that says what it was asked, on a free port.
@LoopActor
private func echoServer(_ change: (inout HttpServerLimits) -> Void = { _ in }) throws -> (server: HttpServer, port: Int)
{
  var limits = HttpServerLimits.patient
  change(&limits)
  let server = HttpServer(limits: limits) { request, exchange in
    if request.bodyTooLarge { return HttpResponse(status: 413, body: Array(#"{"error":"too_large"}"#.utf8)) }
    let text =
      "\(request.method) \(request.path) \(request.body.count) #\(exchange.requestsOnConnection) \(request.peer)"
    return HttpResponse(status: 200, body: Array(text.utf8))
  }
  return (server, try server.listen(address: "127.0.0.1", port: 0))
}

private func post(_ body: String, _ fields: String = "") -> String {
  "POST /a HTTP/1.1\r\nHost: x\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
}

@Suite("HTTP/1.1 server")
struct ServerHttp1Tests {
  @Test("Keeps the connection, and replies with the default fields") @LoopActor
  func keepAlive() async throws {
    let (server, port) = try echoServer()
    let client = ServerSocket(port: port)
    for n in 1...3 {
      await client.send(post("{}"))
      let reply = try #require(await client.reply())
      #expect(reply.status == 200)
      #expect(reply.body == "POST /a 2 #\(n) 127.0.0.1")
      #expect(
        reply.fields == [
          "content-type: application/json; charset=utf-8", "cache-control: no-store",
          "content-length: \(reply.body.utf8.count)",
        ])
    }
    #expect(server.openConnections == 1)
    #expect(server.acceptedConnections == 1)
    server.stop()
    #expect(await client.readToEnd().isEmpty)
  }

  @Test("Answers pipelined requests in order, however they are cut", arguments: [1, 7, 100_000]) @LoopActor
  func pipelining(partSize: Int) async throws {
    let (server, port) = try echoServer()
    let client = ServerSocket(port: port)
    var bytes = Array((1...5).map { post(String(repeating: "x", count: $0)) }.joined().utf8)
    while !bytes.isEmpty {
      await client.send(Array(bytes.prefix(partSize)))
      bytes.removeFirst(min(partSize, bytes.count))
    }
    for n in 1...5 { #expect(await client.reply()?.body == "POST /a \(n) #\(n) 127.0.0.1") }
    server.stop()
  }

  @Test("A peer that pipelines without end waits for its replies to be taken, and gets them all") @LoopActor
  func pipeliningBound() async throws {
    let gate = ServerGate()
    var limits = HttpServerLimits.patient
    limits.pipelined = 1_000
    limits.gathered = 1_000
    let server = HttpServer(limits: limits) { _, _ in
      await gate.passed()
      return HttpResponse(status: 200, body: [UInt8](repeating: 65, count: 1_000))
    }
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0), receiveBuffer: 4_096)
    let reader = ServerSocket(twinOf: client)
    let count = 5_000
    async let sent = client.send(Array(String(repeating: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", count: count).utf8))
    gate.open()
    var answered = 0
    while answered < count, await reader.reply()?.status == 200 { answered += 1 }
    #expect(answered == count)
    #expect(await sent)
    server.stop()
  }

  @Test("However fast a peer pipelines, no more is taken in than the bound") @LoopActor
  func pipeliningIntake() async throws {
    let answered = ServerGate()
    let never = ServerGate()
    let server = HttpServer(limits: .patient) { _, exchange in
      // A turn of the loop for each request, so that each could bring another read.
      try? await EventLoop.shared.sleep(milliseconds: 1)
      if exchange.requestsOnConnection == 1_000 {
        answered.open()
        await never.passed()
      }
      return HttpResponse(status: 204)
    }
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0))
    let twin = ServerSocket(twinOf: client)
    // More than the kernel's buffers hold, and less than 1,000 reads.
    let requests = String(repeating: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", count: 1_800_000)
    async let taken = client.send(requests)
    await answered.passed()
    await twin.reset()
    #expect(await taken == false)
    never.open()
    server.stop()
  }

  @Test("A peer that pipelines lets others have their turn") @LoopActor
  func pipeliningTurn() async throws {
    var limits = HttpServerLimits.patient
    limits.pipelinedInARow = 4
    let log = ServerLog()
    let other = ServerBox<ServerSocket>()
    let server = HttpServer(limits: limits) { request, _ in
      log.note(request.path)
      // It is in the kernel now, and is found in the next turn.
      if log.lines.count == 2 { other.value?.sendAtOnce("GET /other HTTP/1.1\r\nHost: x\r\n\r\n") }
      return HttpResponse(status: 204)
    }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    let patient = ServerSocket(port: port)
    await until { server.openConnections == 1 }
    other.value = patient
    let client = ServerSocket(port: port)
    await client.send(String(repeating: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", count: 1_000))
    #expect(await patient.reply()?.status == 204)
    let place = try #require(log.lines.firstIndex(of: "/other"))
    #expect(place <= 8)
    for _ in 0..<1_000 { #expect(await client.reply()?.status == 204) }
    server.stop()
  }

  @Test("HEAD gets the fields of GET, and no body") @LoopActor
  func head() async throws {
    let (server, port) = try echoServer()
    let client = ServerSocket(port: port)
    await client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n")
    let reply = try #require(await client.reply(toHead: true))
    #expect(reply.field("content-length") == "22")
    #expect(await client.reply()?.body == "GET /b 0 #2 127.0.0.1")
    server.stop()
  }

  @Test(
    "Closes after a reply when it must",
    arguments: [
      "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
      "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    ]) @LoopActor
  func closes(request: String) async throws {
    let (server, port) = try echoServer()
    let client = ServerSocket(port: port)
    await client.send(request)
    let reply = try #require(await client.reply())
    #expect(reply.status == 200)
    #expect(reply.field("connection") == "close")
    #expect(await client.readToEnd().isEmpty)
    server.stop()
  }

  @Test(
    "Refuses a malformed request with a reply, and closes",
    arguments: [
      ServerCase(400, "no version", "GET /\r\n\r\n"),
      ServerCase(400, "a blank before a colon", "GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n"),
      ServerCase(501, "an unknown coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n"),
      ServerCase(505, "HTTP/2.0", "GET / HTTP/2.0\r\n\r\n"),
      ServerCase(431, "a target without end", "GET /" + String(repeating: "a", count: 100_000)),
      ServerCase(400, "not quite HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nXX"),
      ServerCase(400, "a TLS hello", "\u{16}\u{3}\u{1}"),
    ]) @LoopActor
  func refuses(request: ServerCase<Int>) async throws {
    let (server, port) = try echoServer()
    let client = ServerSocket(port: port)
    await client.send(request.bytes)
    let reply = try #require(await client.reply())
    #expect(reply.status == request.expected)
    #expect(reply.body == #"{"error":"invalid_request"}"#)
    #expect(reply.field("content-type") == "application/json; charset=utf-8")
    #expect(reply.field("cache-control") == "no-store")
    #expect(reply.field("connection") == "close")
    #expect(await client.readToEnd().isEmpty)
    server.stop()
  }

  @Test("A body of 16,384 bytes is taken, declared or chunked") @LoopActor
  func largestBody() async throws {
    let (server, port) = try echoServer()
    let client = ServerSocket(port: port)
    let body = String(repeating: "y", count: 16_384)
    await client.send(post(body))
    #expect(await client.reply()?.body == "POST /a 16384 #1 127.0.0.1")
    await client.send("POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4000\r\n\(body)\r\n0\r\n\r\n")
    #expect(await client.reply()?.body == "POST /b 16384 #2 127.0.0.1")
    server.stop()
  }

  @Test(
    "A body over the limit is answered at once, and the reply is seen though the body is not read",
    arguments: [
      ServerCase(413, "declared and sent", "Content-Length: 16385\r\n\r\n" + String(repeating: "y", count: 16_385)),
      ServerCase(413, "declared", "Content-Length: 16385\r\n\r\n"),
      ServerCase(413, "200,000 bytes", "Content-Length: 200000\r\n\r\n" + String(repeating: "y", count: 200_000)),
      ServerCase(413, "a chunk declared", "Transfer-Encoding: chunked\r\n\r\n4001\r\n"),
      ServerCase(
        413, "chunks sent",
        "Transfer-Encoding: chunked\r\n\r\n"
          + String(repeating: "800\r\n\(String(repeating: "y", count: 2_048))\r\n", count: 20)),
    ]) @LoopActor
  func tooLarge(request: ServerCase<Int>) async throws {
    let (server, port) = try echoServer()
    let client = ServerSocket(port: port)
    await client.send(Array("POST / HTTP/1.1\r\nHost: x\r\n".utf8) + request.bytes)
    let reply = try #require(await client.reply())
    #expect(reply.status == request.expected)
    #expect(reply.field("connection") == "close")
    #expect(await client.readToEnd().isEmpty)
    server.stop()
  }

  @Test("Asks for a body that waits for 100 Continue, and not for one that is too large") @LoopActor
  func expectContinue() async throws {
    let (server, port) = try echoServer()
    let client = ServerSocket(port: port)
    await client.send("POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    #expect(await client.reply()?.status == 100)
    await client.send("{}")
    #expect(await client.reply()?.body == "POST /a 2 #1 127.0.0.1")
    await client.send("POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 16385\r\n\r\n")
    #expect(await client.reply()?.status == 413)
    server.stop()
  }

  @Test("A handler's own fields stand, but not those of the wire, nor values with line ends") @LoopActor
  func ownFields() async throws {
    let server = HttpServer(limits: .patient) { _, _ in
      HttpResponse(
        status: 429,
        headers: [
          "content-type": "text/plain", "retry-after": "7", "content-length": "99", "x-bad": "a\r\nset-cookie: b",
        ], body: Array("slow".utf8))
    }
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0))
    await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    let reply = try #require(await client.reply())
    #expect(reply.status == 429)
    #expect(
      reply.fields == ["content-type: text/plain", "retry-after: 7", "cache-control: no-store", "content-length: 4"])
    server.stop()
  }

  @Test("A peer that ends its sending half still gets its replies") @LoopActor
  func halfClosed() async throws {
    let (server, port) = try echoServer()
    let client = ServerSocket(port: port)
    await client.send(post("{}") + post("{ }"))
    await client.finishSending()
    #expect(await client.reply()?.body == "POST /a 2 #1 127.0.0.1")
    #expect(await client.reply()?.body == "POST /a 3 #2 127.0.0.1")
    #expect(await client.readToEnd().isEmpty)
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
    server.stop()
  }
}
