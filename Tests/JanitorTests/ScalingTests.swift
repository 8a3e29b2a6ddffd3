import Testing

@testable import janitor

@Suite("How many workers there should be")
struct ScalingTests {
  let scaling = Scaling(bounds: 2...6, depthEach: 100)

  func reading(
    _ instances: Int, depth: Int64 = 0, oldestDue: Int64 = 0, since: Int64 = 10_000
  ) -> Scaling.Reading {
    Scaling.Reading(depth: depth, oldestDue: oldestDue, instances: instances, secondsSinceChange: since)
  }

  @Test(
    "More come at once, as many as the queue is deep",
    arguments: [(200, 2), (201, 3), (350, 4), (600, 6), (601, 6), (Int64.max, 6)])
  func deep(depth: Int64, count: Int) {
    let decision = scaling.decide(reading(2, depth: depth, since: 0))
    #expect(decision == (count == 2 ? .stay(.fits) : .change(to: count, .deep)))
  }

  @Test("Late deliveries ask for one more, and give it time to show")
  func late() {
    #expect(scaling.decide(reading(3, depth: 10, oldestDue: 15_001)) == .change(to: 4, .late))
    #expect(scaling.decide(reading(3, depth: 10, oldestDue: 15_000)) == .stay(.fits))
    #expect(scaling.decide(reading(3, depth: 10, oldestDue: 60_000, since: 89)) == .stay(.fits))
    #expect(scaling.decide(reading(3, depth: 10, oldestDue: 60_000, since: 90)) == .change(to: 4, .late))
  }

  @Test("At the most nothing is added")
  func most() {
    #expect(scaling.decide(reading(6, depth: 10_000, oldestDue: 60_000)) == .stay(.atMost))
  }

  @Test("Fewer come one at a time, when one fewer would hold twice the queue, and five minutes after a change")
  func fewer() {
    #expect(scaling.decide(reading(6)) == .change(to: 5, .shallow))
    #expect(scaling.decide(reading(6, depth: 250)) == .change(to: 5, .shallow))
    #expect(scaling.decide(reading(6, depth: 251)) == .stay(.fits))
    #expect(scaling.decide(reading(6, oldestDue: 5_001)) == .stay(.fits))
    #expect(scaling.decide(reading(6, since: 299)) == .stay(.holding))
    #expect(scaling.decide(reading(6, since: 300)) == .change(to: 5, .shallow))
    #expect(scaling.decide(reading(2)) == .stay(.fits), "at the least")
  }

  @Test("A pool that somebody stopped stays stopped, and one out of bounds is brought back")
  func bounds() {
    #expect(scaling.decide(reading(0, depth: 10_000, oldestDue: 60_000)) == .stay(.stopped))
    #expect(scaling.decide(reading(1, since: 0)) == .change(to: 2, .outOfBounds))
    #expect(scaling.decide(reading(9, depth: 10_000, since: 0)) == .change(to: 6, .outOfBounds))
  }

  @Test("No queue makes the count swing: what was added is not taken away while the queue stays", arguments: 0...1_000)
  func steady(depth: Int64) {
    var instances = 2
    var changes: [Int] = []
    for _ in 0..<20 {
      if case .change(let count, _) = scaling.decide(reading(instances, depth: depth)) {
        changes.append(count - instances)
        instances = count
      }
    }
    #expect(changes.allSatisfy { $0 > 0 } && changes.count <= 1)
    #expect(scaling.bounds.contains(instances))
  }
}

@Suite("Google's times")
struct TimestampTests {
  @Test(
    "Read to the second",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2026-11-30T14:37:22.123456789Z", 1_796_049_442),
      ("2000-02-29T23:59:59.9Z", 951_868_799),
      ("2100-03-01T00:00:00Z", 4_107_542_400), ("1969-12-31T23:59:59Z", -1),
    ] as [(String, Int64)])
  func reads(text: String, seconds: Int64) { #expect(Timestamp.seconds(text) == seconds) }

  @Test(
    "Nothing else is taken for one",
    arguments: [
      "", "2026-11-30", "2026-11-30T14:37:22", "2026-11-30T14:37:22+01:00", "2026-13-30T14:37:22Z",
      "2026-11-30T24:37:22Z",
      "2026-11-30T14:37:22.Z", "2026-11-30T14:37:22.1x3Z", "2026-11-30t14:37:22Z ", "20\u{e9}6-11-30T14:37:2Z",
    ])
  func refuses(text: String) { #expect(Timestamp.seconds(text) == nil) }
}
