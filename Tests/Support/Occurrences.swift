package import Loop

/// Counts what happens on the loop, and lets a test wait for the nth time.
@LoopActor
package final class Occurrences {
  package private(set) var count = 0
  private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  package nonisolated init() {}

  /// It has happened once more.
  package func add() {
    count += 1
    let due = waiters.filter { $0.count <= count }
    waiters.removeAll { $0.count <= count }
    for waiter in due { waiter.continuation.resume() }
  }

  /// Returns once it has happened `wanted` times.
  package func reached(_ wanted: Int) async {
    // Looked at inside: a task may let others run on its way into a continuation.
    await withCheckedContinuation { waiter in
      if count >= wanted { waiter.resume() } else { waiters.append((wanted, waiter)) }
    }
  }
}
