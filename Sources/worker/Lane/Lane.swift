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
  var parkedReminder = Reminder()
  var pausedReminder = Reminder()
  var lastRead = LastNotification()
  /// Deliveries claimed and neither settled nor given back.
  private(set) var held = 0
  /// What the provider has been sent and has not answered, by registration: each has one on its way at most.
  var flying: [Int64: Held] = [:]
  var rechecks = Rechecks()
  var probeTimer: Timer?
  /// Refusals of the credential since the lane was parked.
  var refusals = 0
  /// Tokens that were not marked dead since that was paused.
  var spared = 0
  /// Pushes in a row that never reached the provider: the longer the outage, the longer until they are tried again.
  var outage = Outage()
  private(set) var isDraining = false

  private var owner = LeaseOwner()
  private var isClaiming = false
  /// The next claim does not begin before. One costs the database as much as ten batches do, so that under load they are
  /// gathered.
  private var claimDue = Monotonic.now
  /// From the beginning of one claim to that of the next under load, in ms: the longer, the less the last one found, since the
  /// more workers share the queue, the less there is for each.
  private var gathering = gatherings.lowerBound
  private static let gatherings = 10...20
  /// Batches that a claim is to find under load.
  private static let plenty = 32
  /// The last claim that found something found a good many, and not as many as it may.
  private var isLoaded = false
  /// Batches that are a good many.
  private static let many = 16
  /// Runs while the next claim is not due.
  private var claimTimer: Timer?
  /// Hosts that claims have passed over since the last look at everything: as much of each waits here for its own phones as
  /// there is room for all others. So whoever sends to phones that hang, or more than its phones can take, leaves half of what
  /// is left to the rest, and is looked for again once half of that has gone.
  private var passedOver: Set<Int64> = []
  /// So little may wait of any host.
  private static let few = 8
  /// Something was said to be new since the last claim began.
  private var isWoken = true
  /// The next claim looks at everything that lives, not only from where the last one left off.
  private var looksAtAll = true
  private var lowWater = LowWater.bottom
  /// When a claim is to begin at the bottom again, for what was committed long after its turn.
  private var soundingDue = Monotonic.now
  /// How often that is, in ms: such a look reads past everything that was delivered while a snapshot was held.
  private static let soundingEvery = 30_000
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
    probeIfWaiting()
  }

  /// Looks at all that lives in the route's queue: due retries and lapsed leases may lie below where claims begin.
  func look() {
    looksAtAll = true
    wake()
  }

  /// Claims if there is reason and room to: never more than can be sent.
  private func pump() {
    if passedOver.contains(where: { lines.waitingCount(of: $0) <= room / 2 }) {
      looksAtAll = true
      isWoken = true
    }
    guard isWoken, mayClaim, claimTimer == nil else { return }
    let wait = claimDue.milliseconds(since: .now)
    if wait == 0 { return claimNext() }
    claimTimer = EventLoop.shared.after(milliseconds: wait) { [self] in
      claimTimer = nil
      if mayClaim { claimNext() }
    }
  }

  private var mayClaim: Bool {
    !isClaiming && !isDraining && !parking.isParked && !context.settler.isStuck && room > 0
  }

  private func claimNext() {
    isWoken = false
    let marks = looksAtAll ? sounding() : lowWater
    if looksAtAll { passedOver = [] }
    looksAtAll = false
    isClaiming = true
    let began = Monotonic.now
    EventLoop.shared.start { [self] in
      // Reckoned only now: many outcomes are told at once, and the first of them had made room for one.
      let room = max(1, room)
      let limit = ClaimLimit(
        batches: min(context.batch, room), deliveries: room, ofHost: (room + 1) / 2,
        without: lines.hosts(waiting: max(room, Self.few)))
      passedOver.formUnion(limit.without)
      if let claim = await claim(limit: limit, from: marks) {
        lowWater = claim.lowWater
        if claim.looked > 0 { isLoaded = claim.looked >= Self.many && claim.looked < context.batch }
        let wanted = gathering * Self.plenty / max(claim.looked, 1)
        gathering = min(max(wanted, Self.gatherings.lowerBound), Self.gatherings.upperBound)
        claimDue = isLoaded ? began.advanced(milliseconds: gathering) : began
        if claim.looked >= limit.batches || claim.hasOlder { isWoken = true }
        for delivery in claim.deliveries { take(delivery) }
      } else {
        // What this one may have missed, the next tick's look finds.
        looksAtAll = true
      }
      isClaiming = false
      pump()
    }
  }

  /// Deliveries that there is room for; none when there is no room, or less.
  private var room: Int {
    min(context.capacity - held, max(held == 0 ? 1 : 0, sender.freeCapacity - lines.waitingCount))
  }

  /// Where a look at everything begins.
  private func sounding() -> LowWater {
    if Monotonic.now < soundingDue { return lowWater.atFloor }
    soundingDue = .now.advanced(milliseconds: Self.soundingEvery)
    return .bottom
  }

  /// What a claim brought, as the lane holds it.
  struct Taken {
    var deliveries: [Held]
    var looked: Int
    var lowWater: LowWater
    var hasOlder: Bool
  }

  /// Claims once nothing of an earlier claim is lost: nil when the database could not be asked, or the answer was lost.
  /// One claim of a lane at a time.
  private func claim(limit: ClaimLimit, from marks: LowWater) async -> Taken? {
    var marks = marks
    // What could not be given back is this name's, as the queue sees it, and would not hold back what is younger.
    if context.releaser.hasFailed(owner.current) { owner.loseClaim(.now) }
    let suspects = owner.suspects(.now)
    if !suspects.isEmpty {
      do {
        // Given back to their old places, which may lie below where the claim would begin.
        let rows = try await context.store.disown(route, owners: suspects, known: leases.batches)
        if rows > 0 { marks = marks.atFloor }
      } catch {
        context.faults.count("claim")
        return nil
      }
    }
    let began = Monotonic.now
    let name = owner.current
    lines.claimBegins()
    do {
      let claim = try await context.store.claim(route, owner: name, limit: limit, lease: Leases.length, from: marks)
      count(claim.ended)
      return Taken(
        deliveries: claim.deliveries.map { Held(delivery: $0, owner: name, claimed: began) }, looked: claim.looked,
        lowWater: claim.lowWater, hasOlder: claim.hasOlder)
    } catch {
      context.faults.count("claim")
      owner.loseClaim(.now)
      return nil
    }
  }

  /// One delivery for a probe, held: the others of its batch go back. Nil when there is none or a claim is under way.
  func claimOne() async -> Held? {
    if isClaiming || context.settler.isStuck { return nil }
    isClaiming = true
    let claim = await claim(limit: ClaimLimit(batches: 1), from: lowWater.atFloor)
    isClaiming = false
    var chosen: Held?
    for delivery in claim?.deliveries ?? [] {
      hold(delivery)
      if chosen == nil, !isDraining, lines.admit(delivery) {
        chosen = delivery
      } else {
        giveBack(delivery)
      }
    }
    return chosen
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
      if lines.isStale(delivery) { recheck(delivery) } else { send(delivery) }
    }
  }

  func hold(_ delivery: Held) {
    held += 1
    leases.add(delivery.delivery.batch, delivery.owner, delivery.claimed)
  }

  /// The registration's delivery is over: the next in its line goes.
  func next(after delivery: Held) {
    if let next = lines.next(delivery.delivery.device) { recheck(next) }
  }

  // MARK: Settling

  /// Records what became of a delivery; `then` runs once that is done. One that is to be sent again is looked for when it is
  /// due, if this lane `hurries`, and otherwise when a tick finds it.
  func settle(
    _ delivery: Held, _ settlement: Settlement, hurries: Bool = true, then: (@LoopActor () -> Void)? = nil
  ) {
    context.settler.record(settlement, owner: delivery.owner) { [self] answer in
      held -= 1
      switch answer {
      case .ended:
        if case .ended(let outcome, _) = settlement.verdict { context.counts.ended(route, outcome, 1) }
      case .expired: context.counts.ended(route, .expired, 1)
      case .again:
        if hurries, case .again(let wait, _, _) = settlement.verdict { expectRetry(Int(wait)) }
      case .lost, nil:
        context.counts.leaseLost()
        leases.lose(settlement.batch)
      }
      if leases.settled(settlement.batch) { release(delivery) }
      then?()
      pump()
    }
  }

  /// Leaves a delivery untouched, in its place in the order, to whoever claims it next.
  func giveBack(_ delivery: Held) {
    held -= 1
    if leases.givenBack(delivery.delivery.batch) { release(delivery) }
  }

  /// Leaves a delivery whose turn it was, and those behind it, to whoever claims them next.
  func giveBackLine(_ delivery: Held) {
    giveBack(delivery)
    for held in lines.takeLine(delivery.delivery.device) { giveBack(held) }
    next(after: delivery)
  }

  /// Gives a delivery's batch back to the queue; while the lane is parked, with the reason for its record.
  private func release(_ delivery: Held) {
    context.releaser.release(delivery.delivery.batch, owner: delivery.owner, parking.word)
  }

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
    for (owner, batches) in leases.byOwner { await renew(batches, owner) }
  }

  private func renew(_ batches: [BatchKey], _ owner: Int64) async {
    let began = Monotonic.now
    guard let kept = try? await context.store.renew(batches, owner: owner, lease: Leases.length) else {
      context.faults.count("renew")
      return
    }
    let lost = leases.renewed(batches, kept, began)
    if lost.isEmpty { return }
    // Another worker has them, or will: what waits here is forgotten, what is on its way will find its outcome refused. What
    // waits behind them would overtake them.
    let taken = lines.takeTails(from: { lost.contains($0.delivery.batch) })
    context.counts.leaseLost(taken.count { lost.contains($0.delivery.batch) })
    for held in taken { giveBack(held) }
    pump()
  }

  // MARK: Drain

  /// Claims nothing more and gives back what has not gone out.
  func drain() {
    isDraining = true
    EventLoop.shared.cancel(claimTimer)
    EventLoop.shared.cancel(retryTimer)
    EventLoop.shared.cancel(probeTimer)
    for delivery in lines.takeWaiting() { giveBack(delivery) }
  }

  /// Gives back what is still held when the drain's time is up. The provider may have taken what it has not answered: that is
  /// an attempt of unknown outcome in the record.
  func abandon() async {
    for (owner, held) in Dictionary(grouping: flying.values, by: \.owner) {
      let settlements = held.map { $0.abandoned(.now) }
      for start in stride(from: 0, to: settlements.count, by: Settler.most) {
        let some = Array(settlements[start..<min(start + Settler.most, settlements.count)])
        // Not tried again: the process has no time, and the leases lapse by themselves.
        _ = try? await context.store.settle(some, owner: owner)
      }
    }
    for (owner, batches) in leases.byOwner { try? await context.store.release(batches, owner: owner) }
    let suspects = owner.suspects(.now)
    if !suspects.isEmpty { _ = try? await context.store.disown(route, owners: suspects, known: []) }
  }
}
