internal import Loop

/// Lets a few callers in at a time and a few more wait, in the order they came.
@LoopActor
final class Gate {
  private let runningLimit: Int
  private let waitingLimit: Int
  private var running = 0
  private var waiters: [UnsafeContinuation<Void, Never>] = []

  init(running: Int, waiting: Int) {
    runningLimit = running
    waitingLimit = waiting
  }

  /// Waits for a place; false at once when too many wait already. Whoever got true must call `leave`.
  func enter() async -> Bool {
    if running < runningLimit {
      running += 1
      return true
    }
    if waiters.count >= waitingLimit { return false }
    await withUnsafeContinuation { waiters.append($0) }
    return true
  }

  /// Gives the place to who has waited longest.
  func leave() {
    if waiters.isEmpty {
      running -= 1
    } else {
      waiters.removeFirst().resume()
    }
  }
}
