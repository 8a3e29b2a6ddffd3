internal import Contract
internal import Loop
internal import Operations
internal import Stores

extension Lane {
  /// The credential does not work: nothing but probes goes out until it does (rulings 6.8).
  func park(_ reason: String) {
    refusals += 1
    if parking.fault(reason, .now) {
      context.counts.isParked(route, true)
      var fields = names
      fields["reason"] = .text(reason)
      context.log.error("lane parked", fields)
      for delivery in lines.takeWaiting() { giveBack(delivery) }
    }
    scheduleProbe()
  }

  /// The credential works again.
  func unpark() {
    guard parking.credentialWorks() else { return }
    context.counts.isParked(route, false)
    context.log.notice("lane open again", names.merging(["refused": .integer(Int64(refusals))]) { $1 })
    refusals = 0
    EventLoop.shared.cancel(probeTimer)
    look()
  }

  /// Tells again each minute what still keeps the lane from its work; called at every tick.
  func remind(_ now: Monotonic) {
    if parkedReminder.isDue(while: parking.isParked, now), let reason = parking.reason {
      context.log.warning("lane still parked", names.merging(["reason": .text(reason)]) { $1 })
    }
    if pausedReminder.isDue(while: breaker.isOpen, now) {
      context.log.warning("too many tokens are still refused: none is marked dead", names)
    }
  }

  /// What was wrong may have been mended: the next probe need not wait.
  func probeSoon() {
    parking.expectRecovery(.now)
    scheduleProbe()
  }

  /// Something may have come that a probe can be made of.
  func probeIfWaiting() {
    if parking.expectDelivery(.now) { scheduleProbe() }
  }

  /// The answer says nothing about the credential.
  func probeInconclusive() {
    guard parking.isParked else { return }
    parking.probeInconclusive(.now)
    scheduleProbe()
  }

  private func scheduleProbe() {
    guard let wait = parking.untilProbe(.now), !isDraining else { return }
    EventLoop.shared.cancel(probeTimer)
    probeTimer = EventLoop.shared.after(milliseconds: wait) { [self] in
      guard parking.isParked, !isDraining else { return }
      parking.beginProbe()
      EventLoop.shared.start { [self] in await probe() }
    }
  }

  /// Sends one delivery.
  private func probe() async {
    if let probe = await claimOne() { return send(probe) }
    parking.probeLacksDelivery(.now)
    scheduleProbe()
  }
}
