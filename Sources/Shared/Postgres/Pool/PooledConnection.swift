internal import CPostgres
internal import Loop

/// One connection in pipeline mode: sends calls, and answers them in order.
@LoopActor
final class PooledConnection: Readiness {
  /// What became of a call that was to be sent.
  enum Submission {
    case sent
    /// Nothing of it left: another connection may have it.
    case unsent
    /// No connection would take it.
    case refused(PostgresFailure)
  }

  /// What a connection tells its pool.
  @LoopActor
  protocol Owner: AnyObject {
    /// A call ended, so there is room for another.
    func hasRoom(_ connection: PooledConnection)
    /// The server did not carry `call` out, for want of what another try will bring.
    func tryAgain(_ call: PostgresCall)
    /// The connection is closed, with the reason unless that was wanted.
    func closed(_ connection: PooledConnection, _ reason: String?)
  }

  private let link: ServerLink
  /// Kept beside the link, since libpq forgets the number when it finds the connection broken.
  private let socket: Int32
  private let prepares: Bool
  private weak var owner: (any Owner)?
  private var pipeline = Pipeline<PostgresCall, PostgresRows>()
  private var timer: Timer?
  private var wantsWrite = false
  private var isClosed = false
  /// Takes no more calls, and closes when those in flight are answered.
  private(set) var isRetiring = false

  private static var parameters = ParameterBuffer()

  var inFlight: Int { pipeline.inFlight }

  init(_ link: ServerLink, prepares: Bool, owner: any Owner) {
    self.link = link
    socket = link.socket
    self.prepares = prepares
    self.owner = owner
    PQenterPipelineMode(link.raw)
    EventLoop.shared.watch(socket, .read, self)
  }

  // MARK: Sending

  func submit(_ call: PostgresCall) -> Submission {
    if isClosed || isRetiring { return .unsent }
    do throws(PostgresFailure) {
      try Self.parameters.load(call.values)
    } catch {
      return .refused(error)
    }
    // The second try does without names, whatever was the matter with them.
    let wasSent = prepares && !call.isSecondTry ? sendNamed(call) : sendWhole(call)
    guard wasSent else {
      if !link.isBroken { return .refused(.database(sqlState: "XX000", message: link.complaint)) }
      close(link.complaint)
      return .unsent
    }
    if timer == nil { setTimer(call.deadline) }
    guard PQpipelineSync(link.raw) == 1 else {
      close(link.complaint)
      return .sent
    }
    flush()
    return .sent
  }

  private func sendNamed(_ call: PostgresCall) -> Bool {
    // Types belong to the name: a null leaves its parameter's type to the server, a value does not.
    var name = call.statement.digest
    for type in Self.parameters.types { name = Fnv.mix(name, type) }
    let mustPrepare = pipeline.mustPrepare(name)
    let wasSent = Fnv.withName(name) { text in
      if mustPrepare {
        let count = Int32(Self.parameters.types.count)
        guard PQsendPrepare(link.raw, text, call.statement.text, count, Self.parameters.types) == 1 else {
          return false
        }
      }
      return Self.parameters.lend { PQsendQueryPrepared(link.raw, text, $0, $1, $2, $3, 1) == 1 }
    }
    if wasSent { pipeline.sent(call, name: name, preparing: mustPrepare) }
    return wasSent
  }

  private func sendWhole(_ call: PostgresCall) -> Bool {
    let types = Self.parameters.types
    let wasSent = Self.parameters.lend {
      PQsendQueryParams(link.raw, call.statement.text, $0, types, $1, $2, $3, 1) == 1
    }
    if wasSent { pipeline.sent(call, name: nil, preparing: false) }
    return wasSent
  }

  private func flush() {
    let state = PQflush(link.raw)
    if state < 0 { return close(link.complaint) }
    if (state == 1) != wantsWrite {
      wantsWrite.toggle()
      EventLoop.shared.change(socket, wantsWrite ? [.read, .write] : .read)
    }
  }

  // MARK: Receiving

  func ready(_ events: Interest) {
    guard PQconsumeInput(link.raw) == 1 else { return close(link.complaint) }
    if wantsWrite { flush() }
    // Asked even with nothing in flight: it is what reads the server's farewell.
    while !isClosed, PQisBusy(link.raw) == 0, pipeline.inFlight > 0 {
      // None ends one statement's results.
      if let result = PQgetResult(link.raw) { receive(result) } else if link.isBroken { break }
    }
    if !isClosed, link.isBroken { close(link.complaint) }
  }

  private func receive(_ result: OpaquePointer) {
    let reply: Pipeline<PostgresCall, PostgresRows>.Reply
    switch PQresultStatus(result) {
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK: reply = .completed(PostgresRows(result))
    case PGRES_PIPELINE_SYNC:
      PQclear(result)
      reply = .sync
    case PGRES_PIPELINE_ABORTED:
      PQclear(result)
      reply = .skipped
    default:
      reply = .failed(ResultFailure.of(result))
      PQclear(result)
    }
    guard let (call, outcome) = pipeline.received(reply) else { return }
    settle(call, outcome)
    if isRetiring { return closeIfDone() }
    owner?.hasRoom(self)
  }

  private func settle(_ call: PostgresCall, _ outcome: Result<PostgresRows, PostgresFailure>) {
    guard case .failure(let failure) = outcome, let sqlState = failure.sqlState else { return call.answer(outcome) }
    // The plan under the name does not fit the tables any more, and cannot be had anew under that name; or the server
    // was a writer and is a standby now. Another connection will be better.
    let isStale = prepares && sqlState == "0A000"
    if isStale || sqlState == "25006" { isRetiring = true }
    // Here, and where the name is gone, the statement did not run.
    if isStale || sqlState == "26000", prepares, !call.isSecondTry, !call.isAnswered {
      owner?.tryAgain(call)
    } else {
      call.answer(outcome)
    }
  }

  // MARK: Deadlines and the end

  /// The deadlines of calls are in the order of the calls, so the head's is the only one to watch.
  private func setTimer(_ deadline: Monotonic) {
    timer = EventLoop.shared.after(milliseconds: deadline.milliseconds(since: .now) + 1) { [weak self] in
      self?.checkDeadline()
    }
  }

  private func checkDeadline() {
    timer = nil
    guard !isClosed, let head = pipeline.head else { return }
    guard head.deadline <= .now else { return setTimer(head.deadline) }
    head.answer(.failure(.timedOut))
    CancelRequest.send(for: link)
    isRetiring = true
    // Those behind it may still be answered once the server has given it up.
    timer = EventLoop.shared.after(milliseconds: 400) { [weak self] in
      self?.close("a statement overran its deadline")
    }
  }

  /// Takes no more calls and closes once those in flight are answered.
  func retire() {
    isRetiring = true
    closeIfDone()
  }

  private func closeIfDone() {
    if pipeline.inFlight == 0 { close(nil) }
  }

  private func close(_ reason: String?) {
    if isClosed { return }
    isClosed = true
    isRetiring = true
    EventLoop.shared.cancel(timer)
    EventLoop.shared.forget(socket)
    for call in pipeline.abandon() { call.answer(.failure(.unreachable(reason ?? "the connection closed"))) }
    owner?.closed(self, reason)
  }
}
