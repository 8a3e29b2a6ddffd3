internal import Loop
internal import Operations
internal import Stores

/// Deliveries that are looked at again: before they go, and before their registration is called dead.
struct Rechecks {
  /// Between two looks while the database is away or a renewal is due, in ms.
  static let pause = 200

  struct Entry {
    let held: Held
    /// What the provider said against the token; nil before it was asked.
    let refusal: Refusal?
  }

  var waiting: [Entry] = []
  var isRunning = false
}

/// A provider's word that a token works no more.
struct Refusal {
  let reason: String
  /// It counts for a registration older than this alone, Unix ms.
  let registeredBefore: Int64?

  /// Whether the phone was registered anew after what the provider speaks of, so that the word is not about the registration
  /// as it stands: the store would not mark it dead either.
  func isOvertaken(sent: String, _ check: Recheck) -> Bool {
    guard case .send(let token, let registeredAt, _) = check else { return false }
    if !token.utf8.elementsEqual(sent.utf8) { return true }
    return registeredBefore.map { registeredAt >= $0 } ?? false
  }
}

extension Lane {
  /// What waited in line may have been dismissed, deleted or given a new token meanwhile: it is looked at again, many at a
  /// time (rulings 6.3).
  func recheck(_ held: Held) {
    if isDraining || parking.isParked {
      giveBack(held)
      return next(after: held)
    }
    look(again: Rechecks.Entry(held: held, refusal: nil))
  }

  /// The provider called the token dead. While the push was on its way the phone may have registered anew: then the delivery
  /// has another chance (rulings 6.9).
  func recheck(_ held: Held, _ refusal: Refusal) { look(again: Rechecks.Entry(held: held, refusal: refusal)) }

  private func look(again entry: Rechecks.Entry) {
    rechecks.waiting.append(entry)
    if rechecks.isRunning { return }
    rechecks.isRunning = true
    EventLoop.shared.start { [self] in
      while !rechecks.waiting.isEmpty {
        let batch = rechecks.waiting
        rechecks.waiting = []
        await recheck(batch)
      }
      rechecks.isRunning = false
    }
  }

  private func recheck(_ batch: [Rechecks.Entry]) async {
    guard let checks = try? await context.store.recheck(batch.map(\.held.delivery)), checks.count == batch.count else {
      context.faults.count("recheck")
      return await keep(batch)
    }
    for (entry, check) in zip(batch, checks) {
      let held = entry.held
      if let refusal = entry.refusal {
        if refusal.isOvertaken(sent: held.delivery.token, check) {
          retryOnce(held, refusal.reason)
        } else {
          kill(held, refusal)
        }
        continue
      }
      switch check {
      case .cancelled:
        settle(
          held,
          Settlement(
            batch: held.delivery.batch, device: held.delivery.device, verdict: .ended(.cancelled, detail: nil)))
        next(after: held)
      case .send(let token, let registeredAt, let isProven):
        send(held.with(token: token, registeredAt: registeredAt, isProven: isProven))
      }
    }
  }

  /// The database is away: they keep their places as long as they are ours. What the provider has answered is not given back,
  /// even in a drain: it stays until the database says what it comes to, or that it is lost.
  private func keep(_ batch: [Rechecks.Entry]) async {
    try? await EventLoop.shared.sleep(milliseconds: Rechecks.pause)
    for entry in batch {
      if entry.refusal != nil || mayWait(entry.held) {
        rechecks.waiting.append(entry)
      } else {
        giveBackLine(entry.held)
      }
    }
  }

  /// Waits until the lease is renewed or known to be lost. Given back before, a delivery would be overtaken by its phone's
  /// younger ones.
  func awaitRenewal(_ held: Held) {
    guard mayWait(held) else { return giveBackLine(held) }
    EventLoop.shared.after(milliseconds: Rechecks.pause) { [self] in
      if mayWait(held) { recheck(held) } else { giveBackLine(held) }
    }
  }

  private func mayWait(_ held: Held) -> Bool {
    !isDraining && !parking.isParked && leases.holds(held.delivery.batch)
  }
}
