import Loop
import Testing

@Suite("Event loop")
struct LoopTests {
  @Test("Work for the loop runs on its one thread") @LoopActor
  func isolation() {
    #expect(EventLoop.shared.isCurrentThread)
  }

  @Test("No wake-up is lost between tasks elsewhere and the loop")
  func wakeUps() async {
    // Many short hops from other threads: a lost wake-up shows as a hang.
    let total = await withTaskGroup(of: Int.self) { group in
      for worker in 0..<8 {
        group.addTask { @concurrent in
          var sum = 0
          for round in 0..<2_000 { sum += await Counter.add(worker &+ round) }
          return sum
        }
      }
      return await group.reduce(0, +)
    }
    #expect(total == (0..<8).reduce(0) { sum, w in sum + (0..<2_000).reduce(0) { $0 + (w + $1) % 2 } })
  }

  @Test("Timers fire in the order of their times, those called off not at all") @LoopActor
  func timers() async {
    var order: [Int] = []
    await withCheckedContinuation { done in
      let loop = EventLoop.shared
      let off = loop.after(milliseconds: 3) { order.append(99) }
      loop.after(milliseconds: 8) {
        order.append(3)
        done.resume()
      }
      loop.after(milliseconds: 1) { order.append(1) }
      loop.after(milliseconds: 5) { order.append(2) }
      loop.cancel(off)
    }
    #expect(order == [1, 2, 3])
  }

  @Test("A cancelled sleep ends at once")
  func cancelledSleep() async {
    let sleeper = Task { try await EventLoop.shared.sleep(milliseconds: 3_600_000) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test("A blocking thread runs its actor's work one at a time")
  func blocking() async {
    let calls = BlockingCalls(name: "test")
    let results = await withTaskGroup(of: Int.self) { group in
      for n in 0..<100 { group.addTask { await calls.run { n * 2 } } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.sorted() == (0..<100).map { $0 * 2 })
  }
}

@LoopActor
private enum Counter {
  static func add(_ n: Int) -> Int { n % 2 }
}
