import Stores
import Testing

@Suite("What the queue remembers of attempts")
struct RetryCountTests {
  @Test("The chance after a stale 410 is kept apart from the attempts and spent once")
  func stale() {
    var count = RetryCount(stored: 0)
    count.countAttempt()
    count.spendStaleChance()
    count.spendStaleChance()
    #expect(count.attempts == 1)
    let again = RetryCount(stored: count.value)
    #expect(again.attempts == 1)
    #expect(again.hasSpentStaleChance)
    #expect(!RetryCount(stored: 7).hasSpentStaleChance)
  }
}
