package import Contract
package import Loop
package import Postgres

/// Wakes workers by NOTIFY, which names the routes, a digit each.
///
/// From a session of its own and never inside an admission: a NOTIFY takes one lock of the whole server until its commit is
/// on disk, which serialises commits. Here nothing waits for the disk (`synchronous_commit` off: the notification carries
/// nothing that must last), and signals that come while one is under way fold into the next.
@LoopActor
package final class PostgresSignal: QueueSignal {
  private static let notify = PostgresStatement(
    """
    with fast as materialized (select set_config('synchronous_commit', 'off', true))
    select pg_notify('push_queue', $1) from fast
    """)
  /// From one notification to the next of a crowd at least, in ms: no lane claims more often under load, and each notification
  /// wakes the server's sessions of all workers, and the workers.
  private static let spacing = 10

  private let pool: PostgresPool
  private var isSending = false
  private var raised: Set<Route> = []
  /// One of those that are to be told goes at once.
  private var isUrgent = false
  private var due = Monotonic.now
  private var timer: Timer?

  package init(url: PostgresUrl, applicationName: String) {
    pool = PostgresPool(url, maximum: 1, applicationName: applicationName, log: { _ in })
  }

  package func raise(_ routes: Set<Route>, isCrowd: Bool) {
    raised.formUnion(routes)
    if !isCrowd { isUrgent = true }
    if !isSending { sendWhenDue() }
  }

  private func sendWhenDue() {
    let wait = due.milliseconds(since: .now)
    if isUrgent || wait == 0 { return send() }
    if timer != nil { return }
    timer = EventLoop.shared.after(milliseconds: wait) { [self] in
      timer = nil
      if !isSending { send() }
    }
  }

  private func send() {
    EventLoop.shared.cancel(timer)
    timer = nil
    isSending = true
    EventLoop.shared.start { [self] in
      let payload = Self.payload(raised)
      raised = []
      isUrgent = false
      due = Monotonic.now.advanced(milliseconds: Self.spacing)
      // A failure is told by the store's own pool; workers look by themselves meanwhile.
      _ = try? await pool.run(Self.notify, [.text(payload)])
      isSending = false
      if !raised.isEmpty { sendWhenDue() }
    }
  }

  static func payload(_ routes: Set<Route>) -> String { routes.map { String($0.rawValue) }.sorted().joined() }

  /// The routes that a notification names; all of them when it names none, as those of older programs, or one that this
  /// program does not know.
  static func routes(_ payload: String) -> Set<Route> {
    let named = payload.map { Int16(String($0)).flatMap(Route.init(rawValue:)) }
    return named.isEmpty || named.contains(nil) ? Set(Route.allCases) : Set(named.compactMap(\.self))
  }
}

/// Hears NOTIFY on a connection of its own.
@LoopActor
package final class PostgresWatch: QueueWatch {
  private let url: PostgresUrl
  private var listener: PostgresListener?

  private let applicationName: String
  private let log: @LoopActor (String) -> Void

  /// - Parameter log: told once where no notification can be expected.
  package init(url: PostgresUrl, applicationName: String, log: @escaping @LoopActor (String) -> Void = { _ in }) {
    self.url = url
    self.applicationName = applicationName
    self.log = log
  }

  package func start(_ woken: @escaping @LoopActor (Set<Route>) -> Void) {
    let listener = PostgresListener(
      url, channel: "push_queue", applicationName: applicationName,
      onNotify: { woken($0.reduce(into: []) { $0.formUnion(PostgresSignal.routes($1)) }) },
      onListening: { woken(Set(Route.allCases)) },
      onPooler: { [log] in
        log("a pooler stands before the database: wake-ups may not pass it, so workers look at the queue by themselves")
      })
    self.listener = listener
    listener.start()
  }

  package func stop() {
    listener?.stop()
    listener = nil
  }
}
