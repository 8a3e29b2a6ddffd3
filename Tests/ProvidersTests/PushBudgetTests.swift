import Loop
import Testing

@testable import Providers

@Suite struct PushBudgetTests {
  @Test("A request may take 10 s, a second at least, and nothing is begun 11 s after the first")
  func left() {
    let began = Monotonic(nanoseconds: 7_000_000_000)
    let budget = PushBudget(began: began)
    let left = [0, 4_000, 9_500, 11_000, 11_001, 34_000].map { budget.left(began.advanced(milliseconds: $0)) }
    #expect(left == [10_000, 6_000, 1_000, 1_000, 0, 0])
  }
}
