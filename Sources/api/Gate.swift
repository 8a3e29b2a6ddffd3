internal import Loop

/// Lets a few callers in at a time and a few more wait, in the order they came.
@LoopActor
final class Gate {
  private let runningLimit: Int
  private let waitingLimit: Int
  private var running = 0
  private var waiters: [UnsafeContinuation<Bool, Never>] = []

  init(running: Int, waiting: Int) {
    runningLimit = running
    waitingLimit = waiting
  }

  /// Waits for a place; false at once when too many wait already. Whoever got true must call `leave`.
  func enter() async -> Bool {
    // All of it in the body: an await may let others run before the body does.
    await withUnsafeContinuation { waiter in
      if running < runningLimit {
        running += 1
        waiter.resume(returning: true)
      } else if waiters.count < waitingLimit {
        waiters.append(waiter)
      } else {
        waiter.resume(returning: false)
      }
    }
  }

  /// Gives the place to who has waited longest.
  func leave() {
    if waiters.isEmpty {
      running -= 1
    } else {
      waiters.removeFirst().resume(returning: true)
    }
  }
}
