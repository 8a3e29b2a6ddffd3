import Testing

@testable import Providers

@Suite("Backoff")
struct BackoffTests {
  @Test("The wait doubles from a second to half a minute")
  func doubling() {
    let waits = (0...8).map { Backoff.wait(attempt: $0, minimum: 0, random: 0) }
    #expect(waits == [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000])
    #expect(Backoff.wait(attempt: .max, minimum: 0, random: 0) == 30_000)
    #expect(Backoff.wait(attempt: -1, minimum: 0, random: 0) == 1_000)
  }

  @Test("A provider's minimum is kept, jitter comes on top", arguments: [0, 0.5, 1.0])
  func jitter(_ random: Double) {
    #expect(Backoff.wait(attempt: 1, minimum: 0, random: random) == 2_000 + Int64(500 * random))
    #expect(Backoff.wait(attempt: 1, minimum: 60_000, random: random) == 60_000 + Int64(15_000 * random))
    #expect(Backoff.wait(attempt: 9, minimum: 10_000, random: random) == 30_000 + Int64(7_500 * random))
  }
}
