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
    /// It has had its turn: others go first.
    case yielding
    case over
  }

  unowned let connection: ServerConnection
  private var parser: RequestParser
  private var phase = Phase.reading
  private var stage = RequestParser.Stage.idle
  /// What came before it could be looked at, and how much of it has been since.
  private var pending: [UInt8] = []
  private var used = 0
  /// Requests taken from `pending` one after another.
  private var inARow = 0
  private var peerHasEnded = false
  private var requests = 0

  private var limits: HttpServerLimits { connection.server.limits }

  var isIdle: Bool {
    guard case .reading = phase else { return false }
    return requests > 0 && stage == .idle
  }

  /// `hasBegun`: some of the first request was read elsewhere, and the deadline of its head is set.
  init(_ connection: ServerConnection, hasBegun: Bool) {
    self.connection = connection
    if hasBegun { stage = .head }
    parser = RequestParser(limits: connection.server.limits.request)
  }

  func receive(_ bytes: Span<UInt8>) {
    switch phase {
    case .reading:
      inARow = 0
      var at = 0
      let outcome = parser.read(bytes, at: &at)
      if at < bytes.count { keep(bytes.extracting(at..<bytes.count)) }
      act(outcome)
    case .handling, .blocked, .yielding: keep(bytes)
    case .over: break
    }
  }

  /// Keeps bytes for later. Beyond the bound no more is read until less is left.
  private func keep(_ bytes: Span<UInt8>) {
    // What is left moves to the front only when it is the smaller part, so that it costs no more than what came.
    if used * 2 >= pending.count {
      pending.removeSubrange(..<used)
      used = 0
    }
    bytes.withUnsafeBufferPointer { pending.append(contentsOf: $0) }
    if pending.count - used >= limits.pipelined { connection.pauseReading() }
  }

  private func act(_ outcome: RequestParser.Outcome) {
    switch outcome {
    case .more:
      if parser.takeContinue() { connection.write { $0.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8) } }
      awaitMore()
    case .refuse(let status):
      reply(.refusal(status), withoutBody: false)
    case .complete:
      connection.deadline?.clear()
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
    inARow += 1
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
    } else if inARow >= limits.pipelinedInARow, used < pending.count {
      giveWay()
    } else {
      proceed()
    }
  }

  /// Goes on in the loop's next turn: a peer that pipelines without pause must not keep the others waiting.
  private func giveWay() {
    phase = .yielding
    inARow = 0
    EventLoop.shared.after(milliseconds: 0) { [weak self] in
      if let self, case .yielding = phase { proceed() }
    }
  }

  /// Looks for the next request, first in what has come already.
  private func proceed() {
    phase = .reading
    connection.deadline?.set(milliseconds: limits.idle)
    guard used < pending.count else { return awaitMore() }
    let outcome = parser.read(pending.span, at: &used)
    if used == pending.count {
      pending = []
      used = 0
    }
    if pending.count - used < limits.pipelined { connection.resumeReading() }
    act(outcome)
  }

  func receivedEnd() {
    peerHasEnded = true
    switch phase {
    case .reading: awaitMore()
    // The reply may still reach a peer that closed its sending half only.
    case .handling(let exchange): exchange.peerGone()
    case .blocked, .yielding, .over: break
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
