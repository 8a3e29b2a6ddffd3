internal import CPostgres
internal import Loop

/// Runs a text of several statements by the simple protocol, on a connection that nothing else uses.
@LoopActor
final class ScriptRun: Readiness {
  private let link: ServerLink
  private let socket: Int32
  private var failure: PostgresFailure?
  private var timer: Timer?
  private var waiter: CheckedContinuation<PostgresFailure?, Never>?

  private init(_ link: ServerLink) {
    self.link = link
    socket = link.socket
  }

  /// Ends with the first failure, within `milliseconds`.
  static func run(_ sql: String, on link: ServerLink, milliseconds: Int) async throws(PostgresFailure) {
    let script = ScriptRun(link)
    let failure = await withCheckedContinuation { script.begin(sql, milliseconds, $0) }
    if let failure { throw failure }
  }

  private func begin(_ sql: String, _ milliseconds: Int, _ waiter: CheckedContinuation<PostgresFailure?, Never>) {
    self.waiter = waiter
    EventLoop.shared.watch(socket, [.read, .write], self)
    timer = EventLoop.shared.after(milliseconds: milliseconds) {
      CancelRequest.send(for: self.link)
      self.finish(.timedOut)
    }
    if PQsendQuery(link.raw, sql) != 1 { finish(.unreachable(link.complaint)) }
  }

  func ready(_ events: Interest) {
    guard PQconsumeInput(link.raw) == 1 else { return finish(failure ?? .unreachable(link.complaint)) }
    switch PQflush(link.raw) {
    case 0: EventLoop.shared.change(socket, .read)
    case 1: return
    default: return finish(.unreachable(link.complaint))
    }
    while waiter != nil, PQisBusy(link.raw) == 0 {
      guard let result = PQgetResult(link.raw) else { return finish(failure) }
      defer { PQclear(result) }
      switch PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: break
      default: failure = failure ?? ResultFailure.of(result)
      }
    }
  }

  private func finish(_ failure: PostgresFailure?) {
    EventLoop.shared.cancel(timer)
    EventLoop.shared.forget(socket)
    waiter?.resume(returning: failure)
    waiter = nil
  }
}
