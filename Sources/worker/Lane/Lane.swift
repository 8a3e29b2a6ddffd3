internal import Contract
internal import Loop
internal import Operations
internal import Providers
internal import Stores

/// The way out for one route: claims batches, sends their deliveries, settles what became of them.
///
/// There is no barrier anywhere: each delivery goes when its registration is free and ends when it ends, and the room that
/// it leaves is claimed for at once. A phone that hangs holds back only its own deliveries.
@LoopActor
final class Lane {
  let route: Route
  let sender: any ProviderSender
  let context: LaneContext

  var lines = Lines()
  var leases = Leases()
  var parking = Parking()
  var breaker = InvalidationBreaker()
  /// Deliveries claimed and neither settled nor given back.
  private(set) var held = 0
  var rechecks = Rechecks()
  var probeTimer: Timer?
  /// Pushes in a row that never reached the provider: the longer the outage, the longer until they are tried again.
  var outage = Outage()
  private(set) var isDraining = false

  private var isClaiming = false
  /// Something was said to be new since the last claim began.
  private var isWoken = true
  /// The next claim looks at everything, not only above the low-water mark.
  private var looksAtAll = true
  private var lowWater: Int64 = 0
  private var retryTimer: Timer?
  private var retryDue: Monotonic?

  init(route: Route, sender: any ProviderSender, context: LaneContext) {
    self.route = route
    self.sender = sender
    self.context = context
  }

  // MARK: Claiming

  /// There may be something new.
  func wake() {
    isWoken = true
    pump()
  }

  /// Looks at the route's whole queue: due retries and lapsed leases lie below the low-water mark.
  func look() {
    looksAtAll = true
    wake()
  }

  /// Claims if there is reason and room to: never more than can be sent.
  private func pump() {
    guard isWoken, !isClaiming, !isDraining, !parking.isParked else { return }
    let room = min(context.capacity - held, max(held == 0 ? 1 : 0, sender.freeCapacity - lines.waitingCount))
    if room <= 0 { return }
    isClaiming = true
    isWoken = false
    EventLoop.shared.start { [self] in
      await claim(limit: min(context.batch, room))
      isClaiming = false
      pump()
    }
  }

  private func claim(limit: Int) async {
    let after = looksAtAll ? 0 : lowWater
    looksAtAll = false
    let began = Monotonic.now
    do {
      let claim = try await context.store.claim(
        route, owner: context.owner, limit: limit, lease: Leases.length, after: after)
      lowWater = claim.lowWater
      if claim.looked >= limit { isWoken = true }
      count(claim.ended)
      for delivery in claim.deliveries { take(Held(delivery: delivery, claimed: began)) }
    } catch {
      context.faults.count("claim")
      // What this one may have missed, the next tick's look finds.
      looksAtAll = true
    }
  }

  func count(_ ended: [Outcome: Int]) {
    for (outcome, count) in ended { context.counts.ended(route, outcome, count) }
  }

  private func take(_ delivery: Held) {
    hold(delivery)
    if isDraining || parking.isParked {
      // Claimed while the lane closed.
      giveBack(delivery)
    } else if lines.admit(delivery) {
      send(delivery)
    }
  }

  func hold(_ delivery: Held) {
    held += 1
    leases.add(delivery.delivery.batch, delivery.claimed)
  }

  /// The registration's delivery is over: the next in its line goes.
  func next(after delivery: Held) {
    if let next = lines.next(delivery.delivery.device) { recheck(next) }
  }

  // MARK: Settling

  /// Records what became of a delivery; `then` runs once that is done.
  func settle(_ delivery: Held, _ settlement: Settlement, then: (@LoopActor () -> Void)? = nil) {
    context.settler.record(settlement) { [self] answer in
      held -= 1
      switch answer {
      case .ended:
        if case .ended(let outcome, _) = settlement.verdict { context.counts.ended(route, outcome, 1) }
      case .expired: context.counts.ended(route, .expired, 1)
      case .again:
        if case .again(let wait, _, _) = settlement.verdict { expectRetry(Int(wait)) }
      case .lost, nil:
        context.counts.leaseLost()
        leases.lose(settlement.batch)
      }
      if leases.settled(settlement.batch) { release(settlement.batch) }
      then?()
      pump()
    }
  }

  /// Leaves a delivery untouched, in its place in the order, to whoever claims it next.
  func giveBack(_ delivery: Held) {
    held -= 1
    if leases.givenBack(delivery.delivery.batch) { release(delivery.delivery.batch) }
  }

  /// Gives a batch back to the queue; while the lane is parked, with the reason for its record.
  private func release(_ batch: BatchKey) { context.releaser.release(batch, parking.word) }

  /// Looks again when the earliest known retry is due, instead of at the next tick.
  private func expectRetry(_ milliseconds: Int) {
    let due = Monotonic.now.advanced(milliseconds: milliseconds + 1)
    if let retryDue, retryDue <= due { return }
    EventLoop.shared.cancel(retryTimer)
    retryDue = due
    retryTimer = EventLoop.shared.after(milliseconds: milliseconds + 1) { [self] in
      retryDue = nil
      look()
    }
  }

  /// Prolongs what is held; called every 10 s.
  func renewLeases() async {
    let batches = leases.batches
    if batches.isEmpty { return }
    let began = Monotonic.now
    guard let kept = try? await context.store.renew(batches, owner: context.owner, lease: Leases.length) else {
      context.faults.count("renew")
      return
    }
    let lost = leases.renewed(batches, kept, began)
    if lost.isEmpty { return }
    // Another worker has them, or will: what waits here is forgotten, what is on its way will find its outcome refused.
    let forgotten = lines.takeWaiting { lost.contains($0.delivery.batch) }.count
    held -= forgotten
    context.counts.leaseLost(forgotten)
    pump()
  }

  // MARK: Drain

  /// Claims nothing more and gives back what has not gone out.
  func drain() {
    isDraining = true
    EventLoop.shared.cancel(retryTimer)
    EventLoop.shared.cancel(probeTimer)
    for delivery in lines.takeWaiting() { giveBack(delivery) }
  }

  /// Gives back what is still held when the drain's time is up.
  func abandon() async {
    let batches = leases.batches
    if !batches.isEmpty { try? await context.store.release(batches, owner: context.owner) }
  }
}
