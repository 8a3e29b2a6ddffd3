internal import Loop

/// HTTP/1.1 over a connection: one request at a time, those behind it wait.
@LoopActor
final class Http1Session: ServerSession {
  private enum Phase {
    case reading
    /// A handler has the request.
    case handling(HttpExchange)
    /// The peer has to take replies in before the next request is looked at.
    case blocked
    case over
  }

  unowned let connection: ServerConnection
  private var parser: RequestParser
  private var phase = Phase.reading
  private var stage = RequestParser.Stage.idle
  /// What came while a handler was at work.
  private var pending: [UInt8] = []
  private var peerHasEnded = false
  private var requests = 0

  private var limits: HttpServerLimits { connection.server.limits }

  /// `hasBegun`: some of the first request was read elsewhere, and the deadline of its head is set.
  init(_ connection: ServerConnection, hasBegun: Bool) {
    self.connection = connection
    if hasBegun { stage = .head }
    parser = RequestParser(limits: connection.server.limits.request)
  }

  func receive(_ bytes: Span<UInt8>) {
    switch phase {
    case .reading: read(bytes, from: 0)
    case .handling, .blocked:
      bytes.withUnsafeBufferPointer { pending.append(contentsOf: $0) }
      if pending.count >= limits.pipelined { connection.pauseReading() }
    case .over: break
    }
  }

  private func read(_ bytes: Span<UInt8>, from first: Int) {
    var at = first
    switch parser.read(bytes, at: &at) {
    case .more:
      if parser.takeContinue() { connection.write { $0.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8) } }
      awaitMore()
    case .refuse(let status):
      reply(.refusal(status), withoutBody: false)
    case .complete:
      connection.deadline?.clear()
      if at < bytes.count {
        bytes.extracting(at..<bytes.count).withUnsafeBufferPointer { pending.append(contentsOf: $0) }
      }
      start()
    }
  }

  /// Sets the deadline of the part of a request that is to come.
  private func awaitMore() {
    if peerHasEnded {
      phase = .over
      return connection.finish()
    }
    guard parser.stage != stage else { return }
    stage = parser.stage
    switch stage {
    case .idle: break
    case .head: connection.deadline?.set(milliseconds: limits.head)
    case .body: connection.deadline?.set(milliseconds: limits.body)
    }
  }

  private func start() {
    requests += 1
    var request = parser.request
    request.peer = connection.peer
    let exchange = HttpExchange(
      connection, streamId: 0, requestsOnConnection: requests, isHead: request.method == "HEAD")
    phase = .handling(exchange)
    if peerHasEnded { exchange.peerGone() }
    connection.server.start(request, exchange)
  }

  func answer(_ exchange: HttpExchange, _ response: HttpResponse?) {
    guard case .handling = phase else { return }
    // Nothing can follow a request that was left without a reply.
    guard let response else { return connection.close() }
    reply(response, withoutBody: exchange.isHead)
  }

  private func reply(_ response: HttpResponse, withoutBody: Bool) {
    let closes = response.closes || !parser.keepsAlive || connection.server.isDraining
    connection.write { response.write(to: &$0, withoutBody: withoutBody, closes: closes) }
    if closes {
      phase = .over
      pending = []
      return connection.finish()
    }
    parser.next()
    stage = .idle
    if connection.backlog > limits.gathered {
      phase = .blocked
    } else {
      proceed()
    }
  }

  /// Looks for the next request, first in what has come already.
  private func proceed() {
    phase = .reading
    connection.deadline?.set(milliseconds: limits.idle)
    let bytes = pending
    pending = []
    connection.resumeReading()
    if bytes.isEmpty { awaitMore() } else { read(bytes.span, from: 0) }
  }

  func receivedEnd() {
    peerHasEnded = true
    switch phase {
    case .reading: awaitMore()
    // The reply may still reach a peer that closed its sending half only.
    case .handling(let exchange): exchange.peerGone()
    case .blocked, .over: break
    }
  }

  func gather() {}

  func written() {
    if case .blocked = phase { proceed() }
  }

  func drain() {
    // Whoever has sent a part of a request gets its reply, with `connection: close`.
    if case .reading = phase, parser.stage == .idle {
      phase = .over
      connection.finish()
    }
  }

  func ended() {
    if case .handling(let exchange) = phase { exchange.peerGone() }
    phase = .over
  }
}
