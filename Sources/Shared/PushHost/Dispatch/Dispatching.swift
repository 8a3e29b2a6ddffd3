internal import Contract

/// What goes on behind a ``Dispatcher``: events in their order, requests side by side.
actor Dispatching {
  /// An event and when it was handed over, ms since 1970.
  struct Stamped: Sendable {
    let event: HostEvent
    let at: Int64
  }

  private struct Job: Sendable {
    let notification: PushNotification
    let phones: [Registration]
  }

  private let phones: Registrations
  private let history: DismissalHistory?
  private let clock: HostClock
  private let presence: @Sendable () async -> DesktopPresence
  private let log: @Sendable (String) -> Void
  private var spacing = AlertSpacing()
  private var tally = FailureTally()
  private var telling: Task<Void, Never>?

  init(
    phones: Registrations, history: DismissalHistory?, clock: HostClock,
    presence: @escaping @Sendable () async -> DesktopPresence, log: @escaping @Sendable (String) -> Void
  ) {
    self.phones = phones
    self.history = history
    self.clock = clock
    self.presence = presence
    self.log = log
  }

  func run(_ events: AsyncStream<Stamped>) async {
    await withTaskGroup(of: Void.self) { group in
      var underWay = 0
      for await stamped in events {
        guard let job = await job(for: stamped) else { continue }
        if underWay == Dispatcher.mostUnderWay {
          await group.next()
          underWay -= 1
        }
        group.addTask { await self.send(job) }
        underWay += 1
      }
    }
  }

  /// What is sent to whom; nil for nothing, or nobody.
  private func job(for stamped: Stamped) async -> Job? {
    let event = stamped.event
    let notification: PushNotification
    do throws(EventRules.Drop) {
      notification = try EventRules.notification(for: event, now: stamped.at)
    } catch {
      return nil
    }
    // It waited behind others for as long as it lives. Phones that ask shall know of the dismissal all the same.
    let isLate = clock.wall() - stamped.at >= Limits.eventLife
    if !isLate || notification.isDismissal { await write(notification) }
    if isLate {
      count("late")
      return nil
    }
    let registered: [Registration]
    switch await phones.all() {
    case .success(let all): registered = all.filter { $0.isLive(at: clock.wall()) }
    case .failure:
      count("unread")
      return nil
    }
    if notification.isDismissal { return Job(notification: notification, phones: registered) }

    let isHere = await presence().isHere
    let emittedAt = min(max(0, event.emittedAt ?? stamped.at), Limits.integer)
    let wanted = registered.filter { phone in
      if isHere && phone.preferences.awayOnly { return false }
      return spacing.admit(deviceId: phone.deviceId, worktreeId: event.worktreeId, emittedAt: emittedAt)
    }
    return Job(notification: notification, phones: wanted)
  }

  /// Before anything is sent: a phone may ask about what it shows as soon as it shows it.
  private func write(_ notification: PushNotification) async {
    guard let history, let id = notification.id else { return }
    let identity = PushIdentity(notificationId: id, epoch: notification.epoch, seq: notification.seq)
    let failure = notification.isDismissal ? await history.dismissed(identity) : await history.shown(identity)
    if failure != nil { count("unwritten") }
  }

  private func send(_ job: Job) async {
    for delivery in await phones.send(job.notification, to: job.phones) {
      switch delivery.outcome {
      case .success(.queued): break
      case .success(let status): count(status.rawValue)
      case .failure(let fault): count(fault.kind)
      }
    }
  }

  // MARK: What went wrong

  func count(_ kind: String) {
    let pause = tally.count(kind, uptime: clock.uptime())
    if pause == 0 { return flush() }
    guard telling == nil else { return }
    telling = Task {
      guard (try? await clock.sleep(pause)) != nil else { return }
      self.flush()
    }
  }

  func flush() {
    telling?.cancel()
    telling = nil
    if let line = tally.line(uptime: clock.uptime()) { log(line) }
  }
}
