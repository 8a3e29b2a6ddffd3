internal import Http
internal import Json
internal import Loop

/// What a push server makes of a request before any script has its say.
struct Judgement {
  /// The answer that is due.
  let reply: Reply
  /// Brings the push to the phone; nil when it is refused.
  var deliver: (@LoopActor () -> Void)?
}

/// A push server of Apple's or Google's: judges each request, lets the script change what is done, keeps the books.
@LoopActor
final class PushServer {
  private let lane: Lane
  private let world: World
  private let judge: @LoopActor (HttpRequest, Connection, RequestRecord) -> Judgement
  /// The answer that a step with a status or a reason asks for.
  private let scripted: @LoopActor (Step) -> Reply

  init(
    _ lane: Lane, _ world: World,
    judge: @escaping @LoopActor (HttpRequest, Connection, RequestRecord) -> Judgement,
    scripted: @escaping @LoopActor (Step) -> Reply
  ) {
    self.lane = lane
    self.world = world
    self.judge = judge
    self.scripted = scripted
  }

  func answer(_ request: HttpRequest, _ exchange: HttpExchange, token: String) async -> HttpResponse? {
    let settings = world.book.settings(lane.environment)
    let connection = world.connections.connection(
      lane, exchange.connectionId, streamLimit: settings.firstStreamLimit)
    if connection.leavesOut(exchange.streamId) {
      await exchange.hang()
      return nil
    }
    connection.enter()
    defer { connection.leave() }
    let record = world.log.arrive(lane, request, exchange, token: token)

    if let reason = connection.wedgedBy {
      if settings.wedge == .hang { return await hang(record, exchange) }
      return settle(record, scripted(Step(reason: reason)))
    }
    let judgement = judge(request, connection, record)
    var step = judgement.deliver == nil ? Step() : world.next(lane, token: record.token) ?? Step()
    if step.action == .reply, settings.goawayEvery > 0, connection.requests % settings.goawayEvery == 0 {
      step.action = .goawayAfter
    }

    let wait = settings.latency + step.delay + connection.turn(rate: settings.connectionRate)
    if wait > 0 {
      try? await EventLoop.shared.sleep(milliseconds: wait)
      if exchange.isPeerGone {
        world.log.settle(record, Outcome(ending: .abandoned, isDelivered: false))
        return nil
      }
      if connection.leavesOut(exchange.streamId) {
        world.log.settle(record, Outcome(ending: .cut(.goawayBefore), isDelivered: false))
        return nil
      }
    }
    return await perform(step, judgement, record, connection, exchange)
  }

  private func perform(
    _ step: Step, _ judgement: Judgement, _ record: RequestRecord, _ connection: Connection, _ exchange: HttpExchange
  ) async -> HttpResponse? {
    let settings = world.book.settings(lane.environment)
    var deliver = step.isDelivered ? judgement.deliver : nil
    switch step.action {
    case .hang:
      deliver?()
      return await hang(record, exchange, isDelivered: deliver != nil)
    case .reset, .refuse, .goawayBefore, .closeBefore:
      world.log.settle(record, Outcome(ending: .cut(step.action), isDelivered: false))
      cut(step, exchange, connection)
      return nil
    case .closeAfter:
      judgement.deliver?()
      world.log.settle(record, Outcome(ending: .cut(step.action), isDelivered: judgement.deliver != nil))
      cut(step, exchange, connection)
      return nil
    case .reply, .goawayAfter, .settings: break
    }

    let asks = step.status != nil || step.body != nil || (step.reason != nil && step.action == .reply)
    let reply = asks ? scripted(step) : judgement.reply
    if reply.isAccepted { deliver = judgement.deliver }
    deliver?()
    if let reason = reply.reason, settings.wedge != .off, Self.wedging.contains(reason) { connection.wedgedBy = reason }
    if reply.isAccepted { connection.hasAccepted = true }
    let limit = step.maxConcurrentStreams ?? settings.maxConcurrentStreams
    if connection.hasAccepted || step.action == .settings, limit != connection.streamLimit {
      connection.streamLimit = limit
      // Behind the answer, as aioapns needs it: it counts its streams wrong when one is open as the limit rises.
      EventLoop.shared.after(milliseconds: 0) { exchange.announce(maxConcurrentStreams: limit) }
    }
    if step.action == .goawayAfter {
      // Those that are here already are answered too; the sender may send none of them again.
      let last = max(exchange.streamId, exchange.lastStreamOpened)
      connection.leaveOut(above: last)
      exchange.goAway(
        lastStreamId: last, debug: debug(step, settings), keepsOpen: settings.goawayKeepsOpen)
    }
    return settle(record, reply, isDelivered: deliver != nil)
  }

  /// Reasons after which Apple's servers are known to keep refusing.
  private static let wedging: Set = [
    ApnsReason.expiredProviderToken.rawValue, ApnsReason.tooManyProviderTokenUpdates.rawValue,
  ]

  /// RFC 9113 7.
  private static let internalError: UInt32 = 2

  private func cut(_ step: Step, _ exchange: HttpExchange, _ connection: Connection) {
    switch step.action {
    case .reset: exchange.resetStream(code: Self.internalError)
    case .refuse: exchange.refuse()
    case .goawayBefore:
      // Clients' streams are odd: this leaves out the present one and nothing before it.
      let settings = world.book.settings(lane.environment)
      let last = max(0, exchange.streamId - 2)
      connection.leaveOut(above: last)
      exchange.goAway(
        lastStreamId: last, debug: debug(step, settings), keepsOpen: settings.goawayKeepsOpen)
    default: exchange.closeConnection()
    }
  }

  /// What Apple puts into the debug bytes of a GOAWAY.
  private func debug(_ step: Step, _ settings: LaneSettings) -> [UInt8] {
    guard let reason = step.reason ?? settings.goawayReason else { return [] }
    return JsonText.render(.object(["reason": .string(reason)]))
  }

  private func hang(
    _ record: RequestRecord, _ exchange: HttpExchange, isDelivered: Bool = false
  ) async -> HttpResponse? {
    world.log.settle(record, Outcome(ending: .cut(.hang), isDelivered: isDelivered))
    await exchange.hang()
    return nil
  }

  private func settle(_ record: RequestRecord, _ reply: Reply, isDelivered: Bool = false) -> HttpResponse {
    world.log.settle(record, Outcome(ending: .answered(reply), isDelivered: isDelivered))
    var response = reply.response
    let offset = world.book.settings(lane.environment).clockOffset
    if response.headers["date"] == nil {
      response.headers.add("date", DateField.text(seconds: WallClock.milliseconds / 1_000 + offset))
    }
    return response
  }
}
