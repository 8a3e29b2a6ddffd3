package import Loop
package import Tls

/// Single HTTP/1.1 requests, each on a connection of its own: for a metadata server, the demo, tests. Never follows a
/// redirect. For the providers there is `Http2Pool`.
@LoopActor
package enum Http1Client {
  /// Sends a request and waits for the whole answer, at most 1 MiB of body.
  /// - Parameters:
  ///   - headers: besides `host`, `content-length` and `connection`, which are added.
  ///   - tls: for `https` URLs.
  ///   - deadline: for everything from the look-up of the name to the answer's last byte, in ms.
  package static func send(
    _ method: String, _ url: Url, headers: HttpHeaders = [:], body: [UInt8] = [], tls: TlsClientContext? = nil,
    deadline: Int = 10_000, resolver: NameResolver = .system
  ) async throws(Http1Failure) -> HttpResponse {
    let end = Monotonic.now.advanced(milliseconds: deadline)
    let output = try written(method, url, headers, body)
    let transport: ClientTransport
    do throws(ConnectFailure) {
      transport = try await ClientTransport.open(
        url.origin, tls: tls, alpn: "http/1.1", resolver: resolver, before: end)
    } catch { throw .connect(error) }
    defer { transport.close() }
    try await write(output, to: transport, before: end)
    return try await read(from: transport, answersHead: method == "HEAD", before: end)
  }

  private static func written(
    _ method: String, _ url: Url, _ headers: HttpHeaders, _ body: [UInt8]
  ) throws(Http1Failure) -> [UInt8] {
    let fields = headers.fields + [("host", url.origin.authority), ("connection", "close")]
    let length = body.isEmpty && (method == "GET" || method == "HEAD") ? [] : [("content-length", "\(body.count)")]
    var text = "\(method) \(url.target) HTTP/1.1\r\n"
    for (name, value) in fields + length {
      guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }),
        value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 })
      else { throw .unwritable }
      text += "\(name): \(value)\r\n"
    }
    guard !method.isEmpty, method.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { throw .unwritable }
    return Array((text + "\r\n").utf8) + body
  }

  private static func write(
    _ output: [UInt8], to transport: ClientTransport, before deadline: Monotonic
  ) async throws(Http1Failure) {
    var start = 0
    while start < output.count {
      let step = output.withUnsafeBytes { transport.write(UnsafeRawBufferPointer(rebasing: $0[start...])) }
      switch step {
      case .bytes(let count): start += count
      case .wantsWrite: guard await transport.isReady(.write, before: deadline) else { throw .timedOut }
      case .wantsRead: guard await transport.isReady(.read, before: deadline) else { throw .timedOut }
      // It may have answered before it stopped listening.
      case .closed, .failed: return
      }
    }
  }

  private static func read(
    from transport: ClientTransport, answersHead: Bool, before deadline: Monotonic
  ) async throws(Http1Failure) -> HttpResponse {
    var parser = Http1ResponseParser(answersHead: answersHead)
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while !parser.isComplete {
      switch buffer.withUnsafeMutableBytes({ transport.read(into: $0) }) {
      case .bytes(let count): try parser.feed(buffer[..<count])
      case .wantsRead: guard await transport.isReady(.read, before: deadline) else { throw .timedOut }
      case .wantsWrite: guard await transport.isReady(.write, before: deadline) else { throw .timedOut }
      case .closed: try parser.end()
      case .failed(let failure): throw .connectionLost(failure.text)
      }
    }
    return parser.response
  }
}
