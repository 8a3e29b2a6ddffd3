internal import Loop
internal import Operations
internal import Stores

/// Deliveries whose turn has come and that are looked at again before they go.
struct Rechecks {
  /// Between two looks while the database is away or a renewal is due, in ms.
  static let pause = 200

  var waiting: [Held] = []
  var isRunning = false
}

extension Lane {
  /// What waited in line may have been dismissed, deleted or given a new token meanwhile: it is looked at again, many at a
  /// time (rulings 6.3).
  func recheck(_ held: Held) {
    if isDraining || parking.isParked {
      giveBack(held)
      return next(after: held)
    }
    rechecks.waiting.append(held)
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

  private func recheck(_ batch: [Held]) async {
    guard let checks = try? await context.store.recheck(batch.map(\.delivery)), checks.count == batch.count else {
      context.faults.count("recheck")
      return await keep(batch)
    }
    for (held, check) in zip(batch, checks) {
      switch check {
      case .cancelled:
        settle(
          held,
          Settlement(
            batch: held.delivery.batch, device: held.delivery.device, verdict: .ended(.cancelled, detail: nil)))
        next(after: held)
      case .send(let token, let registeredAt, let isProven):
        var held = held
        held.delivery.token = token
        held.delivery.registeredAt = registeredAt
        held.delivery.isProven = isProven
        send(held)
      }
    }
  }

  /// The database is away: they keep their places as long as they are ours.
  private func keep(_ batch: [Held]) async {
    try? await EventLoop.shared.sleep(milliseconds: Rechecks.pause)
    for held in batch {
      if mayWait(held) { rechecks.waiting.append(held) } else { giveBackLine(held) }
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
