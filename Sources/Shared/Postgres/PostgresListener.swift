internal import CPostgres
package import Loop

/// Listens to one channel on a connection of its own, and connects again when that breaks.
///
/// A pooler in transaction mode takes LISTEN and passes no notifications on: whoever listens must look by itself now and then
/// too. It is known by the backend's number, which the server and the one that we were greeted by give differently.
@LoopActor
package final class PostgresListener: Readiness {
  private let session: SessionSettings
  private let command: String
  private let limits: PostgresLimits
  private let onNotify: @LoopActor (Set<String>) -> Void
  private let onListening: @LoopActor () -> Void
  private let onLost: @LoopActor (String) -> Void
  private let onRestored: @LoopActor () -> Void
  private let onPooler: @LoopActor () -> Void

  private var link: ServerLink?
  private var socket: Int32 = -1
  private var backoff = Backoff()
  private var timer: Timer?
  /// Goes up with each start and stop, so that an attempt begun before is known as stale.
  private var generation = 0
  private var isLost = false
  private var isPooled = false

  /// `onNotify` is called once for each bunch of notifications, with what they carry, and `onListening` once after each
  /// connection, since some may have been missed before it. `onLost` and `onRestored` tell when the connection breaks (with
  /// the reason) and when it is back. `onPooler` is called once, when a pooler is first met.
  package init(
    _ url: PostgresUrl, channel: String, applicationName: String, limits: PostgresLimits = .init(),
    onNotify: @escaping @LoopActor (Set<String>) -> Void,
    onListening: @escaping @LoopActor () -> Void,
    onLost: @escaping @LoopActor (String) -> Void = { _ in },
    onRestored: @escaping @LoopActor () -> Void = {},
    onPooler: @escaping @LoopActor () -> Void = {}
  ) {
    session = SessionSettings(url, applicationName: applicationName, statementMilliseconds: nil)
    let quoted = channel.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
    command = "LISTEN \"\(quoted)\"; select pg_backend_pid()"
    self.limits = limits
    self.onNotify = onNotify
    self.onListening = onListening
    self.onLost = onLost
    self.onRestored = onRestored
    self.onPooler = onPooler
  }

  /// Listens until `stop`.
  package func start() {
    generation += 1
    release()
    connect()
  }

  /// Lets the connection go. `start` may follow.
  package func stop() {
    generation += 1
    release()
  }

  private func connect() {
    let mine = generation
    Task { @LoopActor in
      do throws(PostgresFailure) {
        let link = try await Connecting.connect(
          session, attempt: backoff.failures, milliseconds: limits.connectMilliseconds)
        if generation == mine { listen(link) }
      } catch {
        if generation == mine, case .unreachable(let reason) = error { lose(reason) }
      }
    }
  }

  private func listen(_ link: ServerLink) {
    self.link = link
    socket = link.socket
    EventLoop.shared.watch(socket, [.read, .write], self)
    timer = EventLoop.shared.after(milliseconds: limits.connectMilliseconds) { [weak self] in
      self?.lose("no answer to LISTEN")
    }
    if PQsendQuery(link.raw, command) != 1 { lose(link.complaint) }
  }

  package func ready(_ events: Interest) {
    guard let link else { return }
    guard PQconsumeInput(link.raw) == 1 else { return lose(link.complaint) }
    switch PQflush(link.raw) {
    case 0: EventLoop.shared.change(socket, .read)
    case 1: return
    default: return lose(link.complaint)
    }
    while PQisBusy(link.raw) == 0 {
      guard let result = PQgetResult(link.raw) else { break }
      defer { PQclear(result) }
      switch PQresultStatus(result) {
      // LISTEN's own; it counts once what follows it has come.
      case PGRES_COMMAND_OK: continue
      case PGRES_TUPLES_OK: meet(PQgetvalue(result, 0, 0).map { String(cString: $0) }, PQbackendPID(link.raw))
      default: return lose(link.complaint)
      }
      backoff.succeeded()
      EventLoop.shared.cancel(timer)
      if isLost { onRestored() }
      isLost = false
      onListening()
    }
    var bunch: Set<String> = []
    while let notification = PQnotifies(link.raw) {
      bunch.insert(String(cString: notification.pointee.extra))
      PQfreemem(notification)
    }
    if !bunch.isEmpty { onNotify(bunch) }
  }

  private func meet(_ backend: String?, _ greeted: Int32) {
    guard !isPooled, backend != String(greeted) else { return }
    isPooled = true
    onPooler()
  }

  private func lose(_ reason: String) {
    release()
    if !isLost {
      isLost = true
      onLost(reason)
    }
    timer = EventLoop.shared.after(milliseconds: backoff.failed(random: .random(in: 0...1))) { [weak self] in
      self?.connect()
    }
  }

  private func release() {
    EventLoop.shared.cancel(timer)
    if link != nil { EventLoop.shared.forget(socket) }
    link = nil
  }
}
