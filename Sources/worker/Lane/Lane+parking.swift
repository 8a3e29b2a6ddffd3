internal import Contract
internal import Loop
internal import Operations
internal import Stores

extension Lane {
  /// The credential does not work: nothing but probes goes out until it does (rulings 6.8).
  func park(_ reason: String) {
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
    context.log.notice("lane open again", names)
    EventLoop.shared.cancel(probeTimer)
    look()
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

  /// Sends one delivery; the others of its batch go back.
  private func probe() async {
    let began = Monotonic.now
    let claim = try? await context.store.claim(
      route, owner: context.owner, limit: 1, lease: Leases.length, after: 0)
    count(claim?.ended ?? [:])
    var probe: Held?
    for delivery in claim?.deliveries ?? [] {
      let held = Held(delivery: delivery, claimed: began)
      hold(held)
      if probe == nil, !isDraining, lines.admit(held) {
        probe = held
      } else {
        giveBack(held)
      }
    }
    if let probe { send(probe) } else { probeInconclusive() }
  }
}
