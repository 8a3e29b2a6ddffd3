import Loop
import Testing

@testable import api

@Suite struct GateTests {
  /// Callers at one gate: who was let in, in order, and who was turned away.
  @LoopActor final class Callers {
    let gate: Gate
    var order: [Int] = []
    var refused: [Int] = []

    init(_ gate: Gate) { self.gate = gate }

    /// On the loop from its first step: a plain task passes through the shared pool, where two may change places.
    func come(_ number: Int) -> Task<Void, Never> {
      EventLoop.shared.start { await self.enter(number) }
    }

    private func enter(_ number: Int) async {
      if await gate.enter() { order.append(number) } else { refused.append(number) }
    }
  }

  @Test @LoopActor func `A few are in, a few wait in order, the rest are turned away at once`() async {
    let gate = Gate(running: 4, waiting: 32)
    let callers = Callers(gate)
    let tasks = (0..<60).map { callers.come($0) }
    for task in tasks.suffix(24) { await task.value }
    #expect(callers.order == [0, 1, 2, 3])
    #expect(callers.refused == Array(36..<60))
    for _ in 0..<36 { gate.leave() }
    for task in tasks { await task.value }
    #expect(callers.order == Array(0..<36))
    // All have left: there is room again.
    #expect(await gate.enter())
  }
}
