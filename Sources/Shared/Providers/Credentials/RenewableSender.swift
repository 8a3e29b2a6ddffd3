internal import Http
package import Loop

/// A sender whose credential can be replaced while it sends, without a push lost: the new one proves itself with one
/// delivery, and the old one serves until it has.
@LoopActor
package final class RenewableSender: ProviderSender {
  /// What becomes of a new credential, for the log.
  package enum Event: Sendable, Equatable {
    /// It waits for a delivery to be tried with.
    case waits
    /// The provider took it, and it sends from now on.
    case tookOver
    /// The provider refused it for this reason; the old one stays in use.
    case refused(String)
  }

  private var succession: Succession<any CredentialSender>
  private let clock: PushClock
  private let events: @LoopActor (Event) -> Void
  private var lastRefusal: String?
  /// Pushes whose own credential was refused while another one is on trial; bounded by the pushes under way.
  private var waiters: [CheckedContinuation<Void, Never>] = []

  package convenience init(_ sender: any CredentialSender, events: @escaping @LoopActor (Event) -> Void) {
    self.init(sender, clock: PushClock(), events: events)
  }

  init(_ sender: any CredentialSender, clock: PushClock, events: @escaping @LoopActor (Event) -> Void = { _ in }) {
    succession = Succession(sender)
    self.clock = clock
    self.events = events
  }

  /// Sends with another credential once the provider has taken a delivery with it. A later call counts in place of an
  /// earlier one that is still on trial.
  package func replace(with sender: any CredentialSender) async {
    lastRefusal = nil
    let unwanted = succession.stage(sender)
    events(.waits)
    await unwanted?.close()
  }

  /// Why the provider refused a credential that was to take over, while it waits for another chance.
  package var refusal: String? { succession.refusal }

  package func send(_ push: Push, _ done: @escaping Done) {
    let budget = PushBudget(began: clock.now())
    guard let trial = succession.beginTrial() else { return sendWithCurrent(push, budget, done) }
    EventLoop.shared.start { [self] in
      if let report = await tryOut(trial, push, budget) { return done(report) }
      sendWithCurrent(push, budget, done)
    }
  }

  private func sendWithCurrent(_ push: Push, _ budget: PushBudget, _ done: @escaping Done) {
    let sender = succession.current
    sender.send(push, budget) { [self] report in
      guard case .park = report.reply else { return done(report) }
      EventLoop.shared.start { [self] in done(await sendOtherwise(push, budget, sender, report)) }
    }
  }

  /// What becomes of a push whose credential the provider has refused.
  private func sendOtherwise(
    _ push: Push, _ budget: PushBudget, _ sender: any CredentialSender, _ report: SendReport
  ) async -> SendReport {
    if sender === succession.current {
      succession.currentRefused()
      if let trial = succession.beginTrial(), let report = await tryOut(trial, push, budget) { return report }
      await trialEnd()
    }
    // Another one has taken over meanwhile: nothing is wrong any more.
    guard sender !== succession.current else { return report }
    guard budget.allowsResend(clock.now()) else {
      return SendReport(reply: .untouched(reason: report.reply.reason ?? ""), seconds: report.seconds)
    }
    return await succession.current.send(push, budget)
  }

  /// Tries the successor out with the push. Nil when the push may go with the present one.
  private func tryOut(
    _ trial: Succession<any CredentialSender>.Trial, _ push: Push, _ budget: PushBudget
  ) async -> SendReport? {
    let report = await trial.member.send(push, budget)
    defer { releaseWaiters() }
    switch report.reply {
    case .accepted, .dead, .failed, .againOnce:
      if let old = succession.passed(trial) {
        events(.tookOver)
        EventLoop.shared.start { await old.close() }
      }
      return report
    case .park(let reason), .refreshCredential(let reason), .reconnect(let reason):
      if succession.refused(trial, reason), reason != lastRefusal {
        lastRefusal = reason
        events(.refused(reason))
      }
      if budget.allowsResend(clock.now()) { return nil }
      return SendReport(reply: .untouched(reason: reason), seconds: report.seconds)
    case .untouched, .crowdedOut:
      succession.undecided(trial)
      return budget.allowsResend(clock.now()) ? nil : report
    case .again:
      // It may have come through, so it must not go a second time at once.
      succession.undecided(trial)
      return report
    }
  }

  private func trialEnd() async {
    await withCheckedContinuation { waiter in
      if succession.isOnTrial { waiters.append(waiter) } else { waiter.resume() }
    }
  }

  private func releaseWaiters() {
    let waiting = waiters
    waiters = []
    for waiter in waiting { waiter.resume() }
  }

  private var members: [any CredentialSender] { [succession.current] + (succession.successor.map { [$0] } ?? []) }

  package var freeCapacity: Int { succession.current.freeCapacity }
  package var inFlight: Int { members.reduce(0) { $0 + $1.inFlight } }
  package var connectionCount: Int { members.reduce(0) { $0 + $1.connectionCount } }
  package var credentialAge: Double? { succession.current.credentialAge }

  package func close() async {
    for member in members { await member.close() }
  }
}
