/// Brings what happens at a desktop to its phones.
///
///     let dispatcher = Dispatcher(phones: phones) { await desktop.presence } log: { print($0) }
///     dispatcher.enqueue(event)
///
/// `enqueue` returns at once whatever happens; all else goes on behind it. A thousand events may wait; beyond that the oldest
/// are dropped and counted. What went wrong is counted by kind and told in at most one line a minute.
public final class Dispatcher: Sendable {
  /// The most events that wait.
  static let mostWaiting = 1_000
  /// The most events that are being sent at a time.
  static let mostUnderWay = 8

  private let events: AsyncStream<Dispatching.Stamped>.Continuation
  private let worker: Task<Void, Never>
  private let dispatching: Dispatching
  private let clock: HostClock

  /// - Parameters:
  ///   - phones: who is sent to.
  ///   - history: where what is shown and dismissed is written down before it is sent; nil for nowhere.
  ///   - presence: whether somebody is at the desktop; asked for each alert.
  ///   - log: where a line goes when pushes did not go out; it holds counts and no values.
  public convenience init(
    phones: Registrations, history: DismissalHistory? = nil,
    presence: @escaping @Sendable () async -> DesktopPresence = { .unknown },
    log: @escaping @Sendable (String) -> Void
  ) {
    self.init(phones: phones, history: history, clock: .system, presence: presence, log: log)
  }

  init(
    phones: Registrations, history: DismissalHistory?, clock: HostClock,
    presence: @escaping @Sendable () async -> DesktopPresence, log: @escaping @Sendable (String) -> Void
  ) {
    let (stream, events) = AsyncStream<Dispatching.Stamped>.makeStream(
      bufferingPolicy: .bufferingNewest(Self.mostWaiting))
    let dispatching = Dispatching(phones: phones, history: history, clock: clock, presence: presence, log: log)
    self.events = events
    self.clock = clock
    self.dispatching = dispatching
    worker = Task { await dispatching.run(stream) }
  }

  deinit { events.finish() }

  /// Hands an event over. Never waits, never fails.
  public func enqueue(_ event: HostEvent) {
    var event = event
    event.title = Text.bounded(event.title)
    event.body = Text.bounded(event.body)
    let stamped = Dispatching.Stamped(event: event, at: clock.wall())
    if case .dropped = events.yield(stamped) {
      Task { [dispatching] in await dispatching.count("dropped") }
    }
  }

  /// Takes no more events, waits until those that it has are sent or given up, and tells what is left to tell.
  public func close() async {
    events.finish()
    await worker.value
    await dispatching.flush()
  }
}
