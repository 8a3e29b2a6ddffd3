internal import Contract
internal import Loop
internal import Operations
internal import Providers
internal import Stores

extension Lane {
  /// Sends a delivery whose registration is free, and settles what became of it.
  func send(_ held: Held) {
    let delivery = held.delivery
    let now = Monotonic.now
    let remaining = held.remaining(now)
    if remaining <= 0 { return end(held, .expired, nil, .none) }
    guard let notification = lastRead.notification(in: delivery.payload) else {
      return end(held, .failed, "the stored notification cannot be read", .none)
    }
    let push = Push(
      hostFingerprint: delivery.host.fingerprint.text, notification: notification, isSilent: delivery.isSilent,
      route: route, token: delivery.token, identity: delivery.identity, expiresAt: delivery.expiresAt,
      remaining: remaining, registeredAt: delivery.registeredAt, isProven: delivery.isProven)
    // The lease is gone, or too short to send under. Looked at last of all: the process may have stood still until now.
    guard leases.isSafe(delivery.batch, .now) else { return awaitRenewal(held) }
    flying[delivery.device] = held
    sender.send(push) { [self] report in
      flying[held.delivery.device] = nil
      context.counts.answered(route, report)
      absorb(report.reply, held)
    }
  }

  /// What an answer means for its delivery, its registration and the lane.
  private func absorb(_ reply: Reply, _ held: Held) {
    switch reply {
    case .untouched(let reason):
      again(held, after: outage.wait(), attempts: held.delivery.attempts, reason, .none)
      return probeInconclusive()
    case .crowdedOut(let reason):
      again(held, after: Outage.longest, attempts: held.delivery.attempts, reason, .none, hurries: false)
      return probeInconclusive()
    default: outage.end()
    }
    switch reply {
    case .accepted(let id):
      context.counts.accepted(route, seconds: held.age(.now))
      observe(isSuspicious: false)
      end(held, .sent, id)
      unpark()
    case .dead(let reason, let registeredBefore, let isSuspicious):
      observe(isSuspicious: isSuspicious)
      if isSuspicious && breaker.isOpen {
        spared += 1
        end(held, .failed, reason)
      } else {
        recheck(held, Refusal(reason: reason, registeredBefore: registeredBefore))
      }
      unpark()
    case .failed(let reason):
      observe(isSuspicious: false)
      end(held, .failed, reason)
      unpark()
    case .againOnce(let reason):
      retryOnce(held, reason)
      unpark()
    case .again(let reason, let minimum, let isUnknown):
      retry(held, reason, minimum: minimum, isUnknown ? .unknown : .answered)
      probeInconclusive()
    case .untouched, .crowdedOut: break
    case .park(let reason), .refreshCredential(let reason), .reconnect(let reason):
      park(reason)
      giveBack(held)
      next(after: held)
    }
  }

  private func end(
    _ held: Held, _ outcome: Outcome, _ detail: String?, _ attempt: Settlement.Attempt = .answered
  ) {
    let delivery = held.delivery
    var settlement = Settlement(
      batch: delivery.batch, device: delivery.device, verdict: .ended(outcome, detail: detail), attempt: attempt)
    if outcome == .sent && !delivery.isProven { settlement.proves = delivery.token }
    settle(held, settlement)
    next(after: held)
  }

  /// Marks the registration dead; the next in its line is looked at only once the mark stands, and so is what a claim that is
  /// under way brings of it.
  func kill(_ held: Held, _ refusal: Refusal) {
    let delivery = held.delivery
    let settlement = Settlement(
      batch: delivery.batch, device: delivery.device, verdict: .ended(.dead, detail: refusal.reason),
      attempt: .answered, kills: (delivery.token, refusal.registeredBefore))
    settle(held, settlement) { [self] in
      lines.mark(delivery.device)
      next(after: held)
    }
  }

  private func retry(_ held: Held, _ reason: String, minimum: Int64, _ attempt: Settlement.Attempt) {
    repeatLater(held, RetryCount(stored: held.delivery.attempts), reason, minimum: minimum, attempt)
  }

  /// A refusal that is not about the registration as it stands: due again the first time, failed the second.
  func retryOnce(_ held: Held, _ reason: String) {
    var count = RetryCount(stored: held.delivery.attempts)
    if count.hasSpentStaleChance { return end(held, .failed, reason) }
    count.spendStaleChance()
    repeatLater(held, count, reason, minimum: 0, .answered)
  }

  private func repeatLater(
    _ held: Held, _ before: RetryCount, _ reason: String, minimum: Int64, _ attempt: Settlement.Attempt
  ) {
    var count = before
    count.countAttempt()
    let wait = Backoff.wait(attempt: count.attempts, minimum: minimum, random: context.random())
    again(held, after: wait, attempts: count.value, reason, attempt)
  }

  /// - Parameter hurries: this lane looks for it as soon as it is due. Otherwise other workers, whose connections may have
  ///   room, are as likely to find it.
  private func again(
    _ held: Held, after wait: Int64, attempts: Int, _ reason: String, _ attempt: Settlement.Attempt,
    hurries: Bool = true
  ) {
    let delivery = held.delivery
    settle(
      held,
      Settlement(
        batch: delivery.batch, device: delivery.device,
        verdict: .again(after: wait, attempts: attempts, reason: reason), attempt: attempt),
      hurries: hurries)
    next(after: held)
  }

  private func observe(isSuspicious: Bool) {
    let wasOpen = breaker.isOpen
    breaker.count(isSuspicious: isSuspicious)
    if breaker.isOpen == wasOpen { return }
    context.counts.isInvalidationPaused(route, breaker.isOpen)
    if breaker.isOpen {
      context.log.error("too many tokens refused: none is marked dead until the share falls", names)
    } else {
      context.log.notice(
        "refused tokens are marked dead again", names.merging(["spared": .integer(Int64(spared))]) { $1 })
      spared = 0
    }
  }

  /// Which lane this is, for a log line.
  var names: [String: LogField] {
    ["provider": .text(route.provider), "environment": .text(route.environment)]
  }
}
