import Loop
import Testing

@testable import api

@Suite struct GateTests {
  @Test @LoopActor func `A few are in, a few wait in order, the rest are turned away at once`() async {
    let gate = Gate(running: 4, waiting: 32)
    var order: [Int] = []
    var refused: [Int] = []
    let tasks = (0..<60).map { number in
      // On the loop from its first step: a plain task passes through the shared pool, where two may change places.
      Task(executorPreference: EventLoop.shared) { @LoopActor in
        if await gate.enter() { order.append(number) } else { refused.append(number) }
      }
    }
    for task in tasks.suffix(24) { await task.value }
    #expect(order == [0, 1, 2, 3])
    #expect(refused == Array(36..<60))
    for _ in 0..<36 { gate.leave() }
    for task in tasks { await task.value }
    #expect(order == Array(0..<36))
    // All have left: there is room again.
    #expect(await gate.enter())
  }
}
