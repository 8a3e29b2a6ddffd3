internal import Http
internal import Json
internal import Loop

/// Every request, for tests to ask what came.
@LoopActor
final class RequestLog {
  /// Requests that are kept; the oldest goes first.
  static let limit = 100_000
  /// Bytes that they may take.
  static let byteLimit = 256 << 20
  /// Calls that may wait for requests at once.
  static let waiterLimit = 256
  /// The longest such wait, in ms.
  static let longestWait = 120_000

  private struct Waiter {
    let isDue: (Tally) -> Bool
    let end: OneTime
  }

  private(set) var tally = Tally()
  private var records: [RequestRecord] = []
  /// Place of the oldest record that is kept.
  private var first = 0
  private var bytes = 0
  private var dropped = 0
  private var generation = 0
  private var credentials = CredentialCache()
  private var waiters: [Waiter] = []

  /// Notes a request as it comes.
  func arrive(_ lane: Lane, _ request: HttpRequest, _ exchange: HttpExchange, token: String) -> RequestRecord {
    let credential = credentials.credential(request.headers)
    tally.arrive(lane, credential: credential)
    let record = RequestRecord(
      number: tally.arrived, generation: generation, lane: lane, token: token, request: request,
      connection: exchange.connectionId, stream: exchange.streamId, credential: credential)
    records.append(record)
    bytes += record.size
    while bytes > Self.byteLimit || records.count - first > Self.limit { dropOldest() }
    tellWaiters()
    return record
  }

  /// Notes how a request ended.
  func settle(_ record: RequestRecord, _ outcome: Outcome) {
    guard record.generation == generation else { return }
    bytes -= record.size
    record.settle(outcome)
    bytes += record.size
    tally.settle(record.lane, token: record.token, outcome)
    tellWaiters()
  }

  private func tellWaiters() {
    guard !waiters.isEmpty else { return }
    waiters.removeAll { waiter in
      guard waiter.isDue(tally) else { return false }
      waiter.end.fulfil()
      return true
    }
  }

  /// Waits until the counts are such, `milliseconds` at most; whether that came about.
  func wait(milliseconds: Int, until isDue: @escaping (Tally) -> Bool) async -> Bool {
    if isDue(tally) { return true }
    guard waiters.count < Self.waiterLimit else { return false }
    let end = OneTime()
    waiters.append(Waiter(isDue: isDue, end: end))
    await end.wait(milliseconds: min(milliseconds, Self.longestWait))
    waiters.removeAll { $0.end === end }
    return isDue(tally)
  }

  /// Requests with a number beyond `since`, `limit` at most, as JSON; those for `token` alone when one is given.
  func text(since: Int, limit: Int, token: String? = nil) -> [UInt8] {
    var text = JsonText(reserving: 65_536)
    text.object { text in
      text.member("total", tally.arrived)
      text.member("dropped", dropped)
      text.array("requests") { text in
        var left = limit
        for record in records.dropFirst(first + max(0, since - dropped)) where left > 0 {
          if let token, token != record.token { continue }
          text.raw(record.json)
          left -= 1
        }
      }
    }
    return text.bytes
  }

  /// Forgets all. Requests that are still on their way belong to the past.
  func reset() {
    generation += 1
    tally = Tally()
    records = []
    first = 0
    bytes = 0
    dropped = 0
    for waiter in waiters { waiter.end.fulfil() }
    waiters = []
  }

  private func dropOldest() {
    bytes -= records[first].size
    first += 1
    dropped += 1
    guard first > records.count / 2 else { return }
    records.removeFirst(first)
    first = 0
  }
}

/// Something that comes once, and one task that waits for it.
@LoopActor
final class OneTime {
  private var waiter: CheckedContinuation<Void, Never>?
  private var isOver = false

  func fulfil() {
    isOver = true
    waiter?.resume()
    waiter = nil
  }

  func wait(milliseconds: Int) async {
    let timer = EventLoop.shared.after(milliseconds: milliseconds) { [weak self] in self?.fulfil() }
    // Looked at inside: a task may let others run on its way into a continuation.
    await withCheckedContinuation { continuation in
      if isOver { continuation.resume() } else { waiter = continuation }
    }
    EventLoop.shared.cancel(timer)
  }
}
