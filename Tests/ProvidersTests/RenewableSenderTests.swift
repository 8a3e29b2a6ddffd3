import Loop
import Testing

@testable import Providers

/// A credential whose answers the test gives.
@LoopActor
private final class Scripted: CredentialSender {
  private(set) var sent = 0
  private(set) var isClosed = false
  var reply: @LoopActor () async -> Reply

  nonisolated init(_ reply: Reply = .accepted(id: nil)) { self.reply = { reply } }

  func send(_ push: Push, _ done: @escaping Done) { send(push, PushBudget(began: .now), done) }
  func send(_ push: Push, _ budget: PushBudget, _ done: @escaping Done) {
    sent += 1
    EventLoop.shared.start { [self] in done(SendReport(reply: await reply(), seconds: 0)) }
  }

  var freeCapacity = 5
  var inFlight = 1
  var connectionCount = 2
  var credentialAge: Double? { 7 }
  func close() async { isClosed = true }
}

@LoopActor
private final class Events {
  private(set) var seen: [RenewableSender.Event] = []
  nonisolated init() {}
  func add(_ event: RenewableSender.Event) { seen.append(event) }
}

@Suite("Replacing a credential while it sends")
@LoopActor
struct RenewableSenderTests {
  private let push = Push.test(.full())
  private let time = StandingClock()
  private let events = Events()

  private func renewable(_ sender: Scripted) -> RenewableSender {
    RenewableSender(sender, clock: time.clock) { [events] in events.add($0) }
  }

  @Test("One push tries the new credential while the others go with the old one; then all follow")
  func rotation() async {
    let (old, new) = (Scripted(), Scripted())
    let sender = renewable(old)
    #expect(await sender.send(push).reply == .accepted(id: nil))
    let gate = Gate()
    new.reply = {
      await gate.passed()
      return .accepted(id: "new")
    }
    await sender.replace(with: new)
    let trial = Task(executorPreference: EventLoop.shared) { await sender.send(push).reply }
    await gate.reached()
    for _ in 0..<10 { #expect(await sender.send(push).reply == .accepted(id: nil)) }
    #expect((old.sent, new.sent) == (11, 1))
    gate.open()
    #expect(await trial.value == .accepted(id: "new"))
    #expect(await sender.send(push).reply == .accepted(id: "new"))
    #expect((old.sent, new.sent) == (11, 2))
    await sender.close()
    #expect(events.seen == [.waits, .tookOver])
  }

  @Test(
    "Any answer that the provider gives to a good credential is proof",
    arguments: [
      Reply.accepted(id: nil), .dead(reason: "x", registeredBefore: nil, isSuspicious: true), .failed(reason: "x"),
      .againOnce(reason: "x"),
    ])
  func proofs(_ reply: Reply) async {
    let (old, new) = (Scripted(), Scripted(reply))
    let sender = renewable(old)
    await sender.replace(with: new)
    #expect(await sender.send(push).reply == reply)
    #expect(events.seen == [.waits, .tookOver] && old.sent == 0)
  }

  @Test("A new credential that is refused costs no push: the old one sends it, and the reason is told once")
  func refused() async {
    let (old, new) = (Scripted(), Scripted(.park(reason: "InvalidProviderToken")))
    let sender = renewable(old)
    await sender.replace(with: new)
    for _ in 0..<5 { #expect(await sender.send(push).reply == .accepted(id: nil)) }
    #expect((old.sent, new.sent) == (5, 1))
    #expect(sender.refusal == "InvalidProviderToken")
    #expect(events.seen == [.waits, .refused("InvalidProviderToken")])
  }

  @Test("When the old credential is refused as well, the new one has another chance with each push")
  func secondChance() async {
    let (old, new) = (Scripted(), Scripted(.park(reason: "new")))
    let sender = renewable(old)
    await sender.replace(with: new)
    _ = await sender.send(push)
    old.reply = { .park(reason: "old") }
    #expect(await sender.send(push).reply == .park(reason: "old"))
    #expect(new.sent == 2)
    new.reply = { .accepted(id: "new") }
    #expect(await sender.send(push).reply == .accepted(id: "new"))
    #expect(events.seen == [.waits, .refused("new"), .tookOver])
  }

  @Test("Pushes that the old credential's end caught wait for the trial and go with the new one")
  func caught() async {
    let (old, new) = (Scripted(), Scripted())
    let sender = renewable(old)
    let gate = Gate()
    old.reply = {
      await gate.passed()
      return .park(reason: "InvalidProviderToken")
    }
    let pushes = (0..<20).map { _ in
      Task(executorPreference: EventLoop.shared) { await sender.send(push).reply }
    }
    await gate.reached(20)
    await sender.replace(with: new)
    gate.open()
    for push in pushes { #expect(await push.value == .accepted(id: nil)) }
    #expect((old.sent, new.sent) == (20, 20))
    #expect(events.seen == [.waits, .tookOver])
  }

  @Test("A trial that never reached the provider goes with the old one; one that may have is not sent twice")
  func undecided() async {
    let (old, new) = (Scripted(), Scripted(.untouched(reason: "dns")))
    let sender = renewable(old)
    await sender.replace(with: new)
    #expect(await sender.send(push).reply == .accepted(id: nil))
    new.reply = { .again(reason: "timeout", minimum: 0) }
    #expect(await sender.send(push).reply == .again(reason: "timeout", minimum: 0))
    #expect((old.sent, new.sent) == (1, 2))
    #expect(events.seen == [.waits])
  }

  @Test("A refusal that came late leaves the push to the queue, and counts no attempt")
  func late() async {
    let (old, new) = (Scripted(), Scripted())
    let sender = renewable(old)
    new.reply = { [time] in
      time.pass(6)
      return .park(reason: "InvalidProviderToken")
    }
    await sender.replace(with: new)
    #expect(await sender.send(push).reply == .untouched(reason: "InvalidProviderToken"))
    #expect(old.sent == 0)
    #expect(await sender.send(push).reply == .accepted(id: nil))
  }

  @Test("A newer credential takes the place of one that waits, which is closed")
  func superseded() async {
    let (old, first, second) = (Scripted(), Scripted(), Scripted())
    let sender = renewable(old)
    await sender.replace(with: first)
    await sender.replace(with: second)
    #expect(first.isClosed && !second.isClosed)
    _ = await sender.send(push)
    #expect((old.sent, first.sent, second.sent) == (0, 0, 1))
  }

  @Test("Room and age are the present credential's, flight and connections those of all; closing closes all")
  func gauges() async {
    let (old, new) = (Scripted(), Scripted())
    let sender = renewable(old)
    await sender.replace(with: new)
    #expect((sender.freeCapacity, sender.inFlight, sender.connectionCount) == (5, 2, 4))
    #expect(sender.credentialAge == 7)
    await sender.close()
    #expect(old.isClosed && new.isClosed)
  }
}

/// Holds tasks up until it is opened.
@LoopActor
private final class Gate {
  private var isOpen = false
  private var held: [CheckedContinuation<Void, Never>] = []
  private var watchers: [(count: Int, waiter: CheckedContinuation<Void, Never>)] = []

  nonisolated init() {}

  func passed() async {
    await withCheckedContinuation { waiter in
      if isOpen { return waiter.resume() }
      held.append(waiter)
      for watcher in watchers where watcher.count <= held.count { watcher.waiter.resume() }
      watchers.removeAll { $0.count <= held.count }
    }
  }

  /// Waits until so many are held up.
  func reached(_ count: Int = 1) async {
    await withCheckedContinuation { waiter in
      if held.count >= count { waiter.resume() } else { watchers.append((count, waiter)) }
    }
  }

  func open() {
    isOpen = true
    for waiter in held { waiter.resume() }
    held = []
  }
}
