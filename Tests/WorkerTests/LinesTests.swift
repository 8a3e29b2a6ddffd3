import Contract
import Loop
import Stores
import Testing

@testable import worker

/// A claimed delivery of `device`, the `n`th of its host.
func held(
  _ device: Int64, _ n: Int64, of host: Int64 = 1, at now: Monotonic = Monotonic(nanoseconds: 0), life: Int64 = 300_000
) -> Held {
  let fingerprint = HostFingerprint("AAAAAAAAAAAAAAAA")
  guard let fingerprint else { preconditionFailure("a fingerprint of 16 characters") }
  return Held(
    delivery: ClaimedDelivery(
      batch: BatchKey(route: .fcm, turn: n, fence: 1), host: Host(number: host, fingerprint: fingerprint),
      device: device,
      registrationId: "r\(device)", route: .fcm, token: "t", registeredAt: 0, isProven: false, attempts: 0,
      isSilent: false, admittedAt: 900, expiresAt: 1_000 + life, claimedAt: 1_000, identity: [], payload: []),
    owner: 1, claimed: now)
}

@Suite("Lines of registrations (rulings 6.1)")
struct LinesTests {
  @Test("What a claim brings of a registration that was marked dead meanwhile is looked at again; a later one saw it")
  func marked() {
    var lines = Lines()
    lines.claimBegins()
    let goes = lines.admit(held(1, 1))
    #expect(goes && !lines.isStale(held(1, 1)))
    lines.claimBegins()
    lines.mark(1)
    #expect(lines.next(1) == nil)
    let isFirst = lines.admit(held(1, 2))
    #expect(isFirst && lines.isStale(held(1, 2)))
    #expect(!lines.isStale(held(2, 3)))
    lines.claimBegins()
    #expect(!lines.isStale(held(1, 4)))
  }

  @Test("What waits is counted by host")
  func hosts() {
    var lines = Lines()
    for (n, device) in [1, 1, 1, 2, 2, 3].enumerated() {
      _ = lines.admit(held(Int64(device), Int64(n), of: device < 3 ? 7 : 8))
    }
    #expect(lines.waitingCount == 3)
    #expect(lines.waitingCount(of: 7) == 3 && lines.waitingCount(of: 8) == 0)
    #expect(lines.hosts(waiting: 3) == [7] && lines.hosts(waiting: 4) == [])
    _ = lines.next(2)
    #expect(lines.hosts(waiting: 3) == [] && lines.hosts(waiting: 2) == [7])
    #expect(lines.takeLine(1).count == 2)
    #expect(lines.hosts(waiting: 1) == [])
  }

  @Test("One delivery of a registration is on its way; the others follow in order")
  func order() {
    var lines = Lines()
    let answer1 = lines.admit(held(1, 1))
    #expect(answer1)
    let answer2 = lines.admit(held(1, 2))
    #expect(!answer2)
    let answer3 = lines.admit(held(2, 3))
    #expect(answer3, "another registration does not wait")
    let answer4 = lines.admit(held(1, 4))
    #expect(!answer4)
    #expect(lines.waitingCount == 2)
    let answer5 = lines.next(1)
    #expect(answer5?.delivery.batch.turn == 2)
    let answer6 = lines.admit(held(1, 5))
    #expect(!answer6, "the second is on its way now")
    let answer7 = lines.next(1)
    #expect(answer7?.delivery.batch.turn == 4)
    let answer8 = lines.next(1)
    #expect(answer8?.delivery.batch.turn == 5)
    let answer9 = lines.next(1)
    #expect(answer9 == nil)
    #expect(lines.waitingCount == 0)
    let answer10 = lines.admit(held(1, 6))
    #expect(answer10, "the line is empty")
  }

  @Test("Taking out what waits leaves what is on its way")
  func takeWaiting() {
    var lines = Lines()
    for n in Int64(1)...4 { _ = lines.admit(held(1, n)) }
    let taken = lines.takeWaiting { $0.delivery.batch.turn != 3 }
    #expect(taken.map(\.delivery.batch.turn) == [2, 4])
    #expect(lines.waitingCount == 1)
    let answer11 = lines.admit(held(1, 5))
    #expect(!answer11, "the first is still on its way")
    let answer12 = lines.next(1)
    #expect(answer12?.delivery.batch.turn == 3)
  }

  @Test("What waits behind one that is taken out may be taken with it, so that it does not overtake")
  func takeFrom() {
    var lines = Lines()
    for n in Int64(1)...5 { _ = lines.admit(held(1, n)) }
    for n in Int64(11)...12 { _ = lines.admit(held(2, n)) }
    let taken = lines.takeTails(from: { $0.delivery.batch.turn == 3 })
    #expect(taken.map(\.delivery.batch.turn) == [3, 4, 5])
    #expect(lines.waitingCount == 2)
    let rest = lines.takeLine(1)
    #expect(rest.map(\.delivery.batch.turn) == [2])
    let none = lines.takeLine(3)
    #expect(none.isEmpty)
    #expect(lines.waitingCount == 1)
    let isFirst = lines.admit(held(1, 6))
    #expect(!isFirst, "the first is still on its way")
    let isAlone = lines.admit(held(3, 1))
    #expect(isAlone)
  }

  @Test("What is left of a life counts from before the claim was sent")
  func remaining() {
    let claimed = Monotonic(nanoseconds: 5_000_000_000)
    let delivery = held(1, 1, at: claimed, life: 2_000)
    #expect(delivery.remaining(claimed) == 2_000)
    #expect(delivery.remaining(claimed.advanced(milliseconds: 1_500)) == 500)
    #expect(delivery.remaining(claimed.advanced(milliseconds: 2_500)) < 0)
    #expect(delivery.age(claimed.advanced(milliseconds: 400)) == 0.5)
  }

  @Test("What is given back unanswered keeps its place, as far as that lies behind, with an attempt of unknown outcome")
  func abandoned() {
    let claimed = Monotonic(nanoseconds: 5_000_000_000)
    let later = claimed.advanced(milliseconds: 50)
    // Claimed at 1,000 by the store's clock.
    for (turn, wait) in [(900, -150), (1_000, -50), (1_050, 0), (9_000, 0)] as [(Int64, Int64)] {
      let settlement = held(1, turn << 20 | 77, at: claimed).abandoned(later)
      #expect(settlement.attempt == .unknown)
      guard case .again(let after, let attempts, let reason) = settlement.verdict else {
        Issue.record("it does not go on")
        continue
      }
      #expect(after == wait && attempts == 1)
      #expect(reason == "connection_lost: the worker stopped")
    }
  }
}

@Suite("A provider's word against a token, and the registration as it stands (rulings 6.9)")
struct RefusalTests {
  @Test(
    "It is overtaken by another token, and by a registration at the time that it tells or later",
    arguments: [
      ("t", 99, 100, false), ("t", 100, 100, true), ("t", 101, 100, true), ("t", 101, nil, false), ("u", 99, 100, true),
      ("u", 99, nil, true),
    ] as [(String, Int64, Int64?, Bool)])
  func overtaken(token: String, registeredAt: Int64, before: Int64?, isOvertaken: Bool) {
    let refusal = Refusal(reason: "Unregistered", registeredBefore: before)
    let check = Recheck.send(token: token, registeredAt: registeredAt, isProven: false)
    #expect(refusal.isOvertaken(sent: "t", check) == isOvertaken)
  }

  @Test("A registration that is gone, or a dismissed alert, is no other chance")
  func gone() {
    #expect(!Refusal(reason: "Unregistered", registeredBefore: 1).isOvertaken(sent: "t", .cancelled))
  }
}

@Suite("Leases of a lane (rulings 6.2)")
struct LeasesTests {
  let start = Monotonic(nanoseconds: 1_000_000_000)
  let batch = BatchKey(route: .fcm, turn: 1, fence: 1)

  @Test("A request is begun only if it ends while the lease is held")
  func margin() {
    var leases = Leases()
    leases.add(batch, 1, start)
    #expect(leases.isSafe(batch, start))
    #expect(leases.isSafe(batch, start.advanced(milliseconds: 17_900)))
    #expect(!leases.isSafe(batch, start.advanced(milliseconds: 18_000)))
    #expect(leases.holds(batch), "too short to send under, and still ours")
    leases.lose(batch)
    #expect(!leases.holds(batch))
    leases.add(batch, 1, start)
    #expect(!leases.isSafe(BatchKey(route: .fcm, turn: 1, fence: 2), start), "another fence is another lease")
  }

  @Test("A renewal counts from when it was sent; what did not come back is lost")
  func renewal() {
    var leases = Leases()
    let other = BatchKey(route: .fcm, turn: 2, fence: 1)
    leases.add(batch, 1, start)
    leases.add(other, 2, start)
    let later = start.advanced(milliseconds: 10_000)
    let answer13 = leases.renewed([batch, other], [batch], later)
    #expect(answer13 == [other])
    #expect(leases.isSafe(batch, later.advanced(milliseconds: 17_900)))
    #expect(!leases.isSafe(other, later))
    #expect(leases.batches == [batch])
  }

  @Test("A batch is released when its last delivery is over and one was given back")
  func release() {
    var leases = Leases()
    for _ in 0..<3 { leases.add(batch, 1, start) }
    let answer14 = leases.settled(batch)
    #expect(!answer14)
    let answer15 = leases.givenBack(batch)
    #expect(!answer15)
    let answer16 = leases.settled(batch)
    #expect(answer16)
    #expect(leases.batches.isEmpty)
    leases.add(batch, 1, start)
    let answer17 = leases.settled(batch)
    #expect(!answer17, "nothing was given back: the store has deleted it")
  }
}
