import Loop
import Testing

@testable import worker

@Suite("Parking of a lane (rulings 6.8)")
struct ParkingTests {
  let start = Monotonic(nanoseconds: 1_000_000_000)

  @Test("The first fault closes the lane and asks for a probe within 5 s")
  func closes() {
    var parking = Parking()
    let answer1 = parking.fault("InvalidProviderToken", start)
    #expect(answer1)
    #expect(parking.isParked)
    #expect(parking.reason == "InvalidProviderToken")
    #expect(parking.untilProbe(start) == 2_000)
  }

  @Test("Answers to what was under way when it closed neither close it again nor lengthen the pause")
  func stragglers() {
    var parking = Parking()
    _ = parking.fault("first", start)
    for _ in 0..<100 {
      let answer2 = parking.fault("later", start)
      #expect(!answer2)
    }
    #expect(parking.untilProbe(start) == 2_000)
  }

  @Test("Refused probes double the pause up to 30 s")
  func doubling() {
    var parking = Parking()
    _ = parking.fault("no", start)
    var pauses: [Int] = []
    for _ in 0..<6 {
      pauses.append(parking.untilProbe(start) ?? -1)
      parking.beginProbe()
      #expect(parking.untilProbe(start) == nil, "one probe at a time")
      let answer3 = parking.fault("no", start)
      #expect(!answer3)
    }
    #expect(pauses == [2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  }

  @Test("An inconclusive probe is made again after the same pause")
  func inconclusive() {
    var parking = Parking()
    _ = parking.fault("no", start)
    parking.beginProbe()
    parking.probeInconclusive(start)
    #expect(parking.untilProbe(start) == 2_000)
    #expect(parking.isParked)
  }

  @Test("A probe for which there was no delivery is made with the next one, however long the pause has become")
  func lacking() {
    var parking = Parking()
    _ = parking.fault("no", start)
    for _ in 0..<5 {
      parking.beginProbe()
      _ = parking.fault("no", start)
    }
    let due1 = parking.expectDelivery(start)
    #expect(!due1, "the provider is spared")
    #expect(parking.untilProbe(start) == 30_000)
    parking.beginProbe()
    parking.probeLacksDelivery(start)
    #expect(parking.untilProbe(start) == 2_000)
    let due2 = parking.expectDelivery(start)
    #expect(due2)
    #expect(parking.untilProbe(start) == 0)
    parking.beginProbe()
    let due3 = parking.expectDelivery(start)
    #expect(!due3, "one probe at a time")
    _ = parking.fault("no", start)
    #expect(parking.untilProbe(start) == 30_000, "the pause is what it was")
  }

  @Test("A good answer opens it at once and starts afresh")
  func opens() {
    var parking = Parking()
    let answer4 = parking.credentialWorks()
    #expect(!answer4, "it was open")
    _ = parking.fault("no", start)
    parking.beginProbe()
    _ = parking.fault("no", start)
    let answer5 = parking.credentialWorks()
    #expect(answer5)
    #expect(!parking.isParked)
    #expect(parking.untilProbe(start) == nil)
    _ = parking.fault("again", start)
    #expect(parking.untilProbe(start) == 2_000)
  }
}

@Suite("Invalidation breaker (rulings 6.10)")
struct InvalidationBreakerTests {
  @Test("Fewer than 50 outcomes never pause", arguments: [1, 49])
  func few(_ count: Int) {
    var breaker = InvalidationBreaker()
    for _ in 0..<count { breaker.count(isSuspicious: true) }
    #expect(!breaker.isOpen)
  }

  @Test("30 % of 50 do not pause, more do", arguments: [(15, false), (16, true), (50, true)])
  func share(_ suspicious: Int, _ pauses: Bool) {
    var breaker = InvalidationBreaker()
    for place in 0..<50 { breaker.count(isSuspicious: place < suspicious) }
    #expect(breaker.isOpen == pauses)
  }

  @Test("It resumes by itself when the share falls")
  func resumes() {
    var breaker = InvalidationBreaker()
    for _ in 0..<50 { breaker.count(isSuspicious: true) }
    #expect(breaker.isOpen)
    for _ in 0..<34 { breaker.count(isSuspicious: false) }
    #expect(breaker.isOpen, "16 of the last 50")
    breaker.count(isSuspicious: false)
    #expect(!breaker.isOpen, "15 of the last 50")
  }
}

@Suite("Waits during an outage")
struct OutageTests {
  @Test("The wait grows to 2 s with pushes that never got there, and starts afresh at an answer")
  func waits() {
    var outage = Outage()
    let first = outage.wait()
    #expect(first == 100)
    var last: Int64 = 0
    for _ in 0..<100 {
      let wait = outage.wait()
      #expect(wait >= last)
      last = wait
    }
    #expect(last == 2_000)
    outage.end()
    let afresh = outage.wait()
    #expect(afresh == 100)
  }
}
