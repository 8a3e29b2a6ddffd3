import Loop
import Testing

@testable import Http

@Suite("HTTP/2 server under abuse")
struct ServerHttp2AbuseTests {
  private static let ok = ServerFrame.head(1)

  /// Sends `bytes` after a client's hello. The last frames that came before the end, without waiting for more than an end.
  @LoopActor
  private func goAwayCode(after bytes: [UInt8], hello: [UInt8] = ServerFrame.hello) async throws -> UInt32? {
    let server = HttpServer(limits: .patient) { _, _ in HttpResponse(status: 200) }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    let client = ServerSocket(port: port)
    await client.send(hello + bytes)
    var code: UInt32?
    while let frame = await client.frame() {
      if frame.is(.goAway) { code = frame.number(at: 4) }
    }
    // Whatever happened, others are served.
    let other = ServerSocket(port: port)
    await other.send(ServerFrame.hello + Self.ok)
    #expect(await other.frame(.headers)?.payload.first == 0x88)
    server.stop()
    return code
  }

  @Test(
    "Broken framing ends the connection with the code of its kind",
    arguments: [
      ServerCase(1, "data on a stream that was never opened", ServerFrame.data(1, [1], ends: true)),
      ServerCase(1, "a head on an even stream", ServerFrame.head(2)),
      ServerCase(1, "a head on stream 0", ServerFrame.head(0)),
      ServerCase(6, "a frame of 16,385 bytes", ServerFrame.data(1, [UInt8](repeating: 0, count: 16_385), ends: true)),
      ServerCase(6, "a ping of 7 bytes", ServerFrame(.ping, [UInt8](repeating: 0, count: 7)).bytes),
      ServerCase(6, "settings of 5 bytes", ServerFrame(.settings, [0, 4, 0, 0, 0]).bytes),
      ServerCase(3, "a window of over 2^31-1", ServerFrame(.settings, [0, 4, 0xff, 0xff, 0xff, 0xff]).bytes),
      ServerCase(1, "a push promise from a client", ServerFrame(.push, flags: 4, stream: 1, [0, 0, 0, 2]).bytes),
      ServerCase(1, "a continuation of nothing", ServerFrame(.continuation, flags: 4, stream: 1, [0]).bytes),
      ServerCase(9, "a header block that is none", ServerFrame.head(1, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
      ServerCase(
        1, "another frame inside a header block",
        ServerFrame(.headers, flags: 1, stream: 1, ServerFrame.request()).bytes
          + ServerFrame(.ping, [UInt8](repeating: 0, count: 8)).bytes),
    ]) @LoopActor
  func framing(broken: ServerCase<UInt32>) async throws {
    #expect(try await goAwayCode(after: broken.bytes) == broken.expected)
  }

  @Test("Streams opened and reset without end, end the connection") @LoopActor
  func rapidReset() async throws {
    var bytes: [UInt8] = []
    for n in UInt32(0)..<3_000 {
      bytes += ServerFrame.head(2 * n + 1) + ServerFrame(.reset, stream: 2 * n + 1, ServerFrame.number(8)).bytes
    }
    let code = try await goAwayCode(after: bytes)
    #expect(code != nil && code != 0)
  }

  @Test("A head continued without end, ends the connection") @LoopActor
  func continuations() async throws {
    var bytes = ServerFrame(.headers, flags: 1, stream: 1, ServerFrame.request()).bytes
    for _ in 0..<2_000 { bytes += ServerFrame(.continuation, stream: 1, ServerFrame.block([("a", "b")])).bytes }
    _ = try await goAwayCode(after: bytes)
  }

  @Test("Something else after the beginning of the preface, or after the preface, ends the connection") @LoopActor
  func noSettings() async throws {
    #expect(try await goAwayCode(after: ServerFrame.head(1), hello: ServerFrame.preface) == 1)
    #expect(try await goAwayCode(after: Array("GET / HTTP/1.1\r\n\r\n".utf8), hello: ServerFrame.preface) != 0)
  }

  @Test(
    "A malformed request is refused alone, before any handler",
    arguments: [
      ServerCase(
        "reset", "no path",
        ServerFrame.head(1, ServerFrame.block([(":method", "GET"), (":scheme", "http"), (":authority", "x")]))),
      ServerCase("reset", "a name in upper case", ServerFrame.head(1, ServerFrame.request("GET", "/", [("A", "b")]))),
      ServerCase(
        "reset", "a field of HTTP/1's", ServerFrame.head(1, ServerFrame.request("GET", "/", [("connection", "close")]))),
      ServerCase(
        "reset", "a line end in a value", ServerFrame.head(1, ServerFrame.request("GET", "/", [("a", "b\r\nc: d")]))),
      ServerCase(
        "reset", "less body than announced",
        ServerFrame.head(1, ServerFrame.request("POST", "/", [("content-length", "3")]), ends: false)
          + ServerFrame.data(1, [1, 2], ends: true)),
      ServerCase(
        "reset", "more body than announced",
        ServerFrame.head(1, ServerFrame.request("POST", "/", [("content-length", "1")]), ends: false)
          + ServerFrame.data(1, [1, 2], ends: true)),
      ServerCase("reply", "a star for a path", ServerFrame.head(1, ServerFrame.request("OPTIONS", "*"))),
      ServerCase(
        "reply", "65 fields",
        ServerFrame.head(1, ServerFrame.request("GET", "/", (0..<65).map { ("a\($0)", "b") }))),
    ]) @LoopActor
  func malformed(request: ServerCase<String>) async throws {
    let log = ServerLog()
    let server = HttpServer(limits: .patient) { request, _ in
      log.note(request.path)
      return HttpResponse(status: 200)
    }
    let client = ServerSocket(port: try server.listen(address: "127.0.0.1", port: 0))
    await client.send(ServerFrame.hello + request.bytes)
    if request.expected == "reset" {
      let reset = await client.frame(.reset)
      #expect(reset?.stream == 1 && reset?.code == 1)
    } else {
      let reply = await client.frame(.headers)
      #expect(reply?.stream == 1 && reply?.payload.first != 0x88)
    }
    await client.send(ServerFrame.head(3, ServerFrame.request("GET", "/after")))
    let reply = await client.frame(.headers)
    #expect(reply?.stream == 3 && reply?.payload.first == 0x88)
    #expect(log.lines == ["/after"])
    server.stop()
  }

  @Test("Mutated frames harm nobody but their own connection", arguments: UInt64(1)...2) @LoopActor
  func mutated(seed: UInt64) async throws {
    var generator = SplitMix(state: seed)
    var limits = HttpServerLimits.patient
    limits.head = 200
    limits.body = 200
    limits.idle = 200
    limits.linger = 20
    let server = HttpServer(limits: limits) { _, _ in HttpResponse(status: 200, body: [1, 2, 3]) }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    let seeds = [
      ServerFrame.head(1) + ServerFrame.head(3, ServerFrame.request("POST"), ends: false)
        + ServerFrame.data(3, [1, 2, 3], ends: true),
      ServerFrame(.ping, [UInt8](repeating: 0, count: 8)).bytes
        + ServerFrame(.windowUpdate, ServerFrame.number(9)).bytes
        + ServerFrame(.priority, stream: 1, [0, 0, 0, 3, 1]).bytes + ServerFrame.head(5),
    ]
    for _ in 0..<60 {
      var bytes = seeds.randomElement(using: &generator)!
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let at = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[at] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: at)
        default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: at)
        }
      }
      let client = ServerSocket(port: port)
      await client.send(ServerFrame.hello + bytes)
      await client.finishSending()
    }
    #expect(await server.waitUntilIdle(milliseconds: 60_000))
    let other = ServerSocket(port: port)
    await other.send(ServerFrame.hello + Self.ok)
    #expect(await other.frame(.headers)?.payload.first == 0x88)
    server.stop()
  }
}
