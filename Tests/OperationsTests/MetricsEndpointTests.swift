import Foundation
import Http
import Json
import Loop
import Testing

@testable import Operations

@Suite @LoopActor struct MetricsEndpointTests {
  private func routes(ready: (@LoopActor () async -> HttpResponse)? = nil) -> MetricsRoutes {
    let metrics = Metrics()
    metrics.counter("sends_total", "Sends.").increment(by: 3)
    return MetricsRoutes(metrics, mode: .validation, ready: ready)
  }

  @Test func `Metrics are served as text format 0.0.4`() async throws {
    let reply = await routes().answer(HttpRequest(method: "GET", path: "/metrics"))
    #expect(reply.status == 200)
    #expect(reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
    #expect(try PrometheusText(String(decoding: reply.body, as: UTF8.self))["sends_total"] == 3)
  }

  @Test func `Health tells protocol and mode`() async {
    let reply = await routes().answer(HttpRequest(method: "HEAD", path: "/health"))
    #expect(
      String(decoding: reply.body, as: UTF8.self)
        == #"{"ok":true,"pushProtocol":1,"deliveryProtocol":2,"mode":"validation"}"#)
    #expect(reply.headers["content-type"] == "application/json; charset=utf-8")
  }

  @Test(arguments: [
    ("POST", "/metrics", 405), ("DELETE", "/health", 405), ("GET", "/", 404), ("POST", "/v1/send", 404),
    ("GET", "/metrics/", 404), ("GET", "/ready", 404),
  ])
  func `Anything else is refused`(method: String, path: String, status: Int) async {
    let reply = await routes().answer(HttpRequest(method: method, path: path))
    #expect(reply.status == status)
    #expect((reply.headers["allow"] == nil) == (status == 404))
  }

  @Test func `Readiness is the program's own answer`() async {
    let routes = routes { HttpResponse(status: 503) }
    #expect(await routes.answer(HttpRequest(method: "GET", path: "/ready")).status == 503)
  }

  @Test(.timeLimit(.minutes(1)))
  func `It is served over a socket, and a port that is taken names its variable`() async throws {
    let endpoint = MetricsEndpoint(routes())
    let port = try endpoint.listen(port: 0)
    let text = await BlockingCalls(name: "scraper").run { scrape(port) }
    #expect(text.hasPrefix("HTTP/1.1 200 "))
    #expect(text.hasSuffix("# HELP sends_total Sends.\n# TYPE sends_total counter\nsends_total 3\n"))
    do throws(ProgramFailure) {
      try MetricsEndpoint(routes()).listen(port: port)
      Issue.record("two on one port")
    } catch {
      #expect(error.code.rawValue == 69)
      #expect(error.description.hasPrefix("ORCA_PUSH_METRICS_PORT: cannot listen on port \(port): "))
    }
    endpoint.stop()
  }
}

/// All that `GET /metrics` gives on a connection of its own; blocks.
private func scrape(_ port: Int) -> String {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = in_port_t(port).bigEndian
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  let connected = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
  guard connected == 0 else { return "not connected" }
  let request = Array("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
  _ = write(descriptor, request, request.count)
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65_536)
  while case let count = read(descriptor, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
  return String(decoding: bytes, as: UTF8.self)
}
