import Loop

/// Lets a test know that something happened on the loop, and hold a handler until the test says so.
@LoopActor
final class ServerGate {
  private var isOpen = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  nonisolated init() {}

  func open() {
    isOpen = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  func passed() async {
    // Looked at inside: a task may let others run on its way into a continuation.
    await withCheckedContinuation { waiter in
      if isOpen { waiter.resume() } else { waiters.append(waiter) }
    }
  }
}

/// What a handler finds once the test has put it there.
@LoopActor
final class ServerBox<Value: Sendable> {
  var value: Value?

  nonisolated init() {}
}

/// Things that a server's handler saw, in order.
@LoopActor
final class ServerLog {
  private(set) var lines: [String] = []

  nonisolated init() {}

  func note(_ line: String) { lines.append(line) }
}
