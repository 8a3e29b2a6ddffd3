import Glibc
import Loop

@testable import Http

/// A client that speaks HTTP/2 without TLS and says anything at all: what reaches a handler is within the bounds of a
/// request, once a stream, and when the client has gone, so has all that was kept for it.
enum Http2Requests: Target {
  static func run(_ bytes: [UInt8]) {
    onTheLoop {
      var input = Input(bytes)
      let greets = input.byte() & 0x80 == 0
      let steps = FrameStep.steps(from: &input)
      var pair: [Int32] = [0, 0]
      require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair) == 0, "no socket")
      Handled.streams = []
      server.accept(pair[0], SocketAddress(), nil)
      let client = RawEnd(pair[1])
      if greets { client.write(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + FrameStep.frame(4, 0, 0, [])) }
      playing: for step in steps {
        switch step {
        case .bytes(let bytes): client.write(bytes)
        case .pause: await turn(2)
        case .close: break playing
        }
      }
      client.finishSending()
      await client.end()
      require(await server.waitUntilIdle(milliseconds: 60_000), "something is kept for a client that has gone")
    }
  }

  @LoopActor private static let server = HttpServer { request, exchange in
    check(request, exchange)
    return HttpResponse(status: 200, headers: ["a": "b"], body: [UInt8](repeating: 0x61, count: request.body.count))
  }

  @LoopActor
  private static func check(_ request: HttpRequest, _ exchange: HttpExchange) {
    let limits = RequestParser.Limits()
    require(request.headers.fields.count <= limits.fields, "too many fields")
    require(request.body.count <= limits.body, "the body is too large")
    require(!request.bodyTooLarge || request.body.isEmpty, "a part of a body that is too large")
    require(request.path.utf8.first == UInt8(ascii: "/"), "the path is \(request.path)")
    for text in [request.method, request.path, request.query ?? ""] + request.headers.fields.map(\.value) {
      require(!text.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }, "a line end in \(text.debugDescription)")
    }
    for (name, _) in request.headers.fields {
      require(!name.isEmpty && name == name.lowercased() && name.utf8.allSatisfy(Ascii.isToken), "the name \(name)")
    }
    if exchange.isHttp2 { require(Handled.streams.insert(exchange.streamId).inserted, "a stream is handled twice") }
  }
}

@LoopActor
private enum Handled {
  static var streams: Set<Int> = []
}
