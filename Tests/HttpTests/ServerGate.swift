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
    if isOpen { return }
    await withCheckedContinuation { waiters.append($0) }
  }
}

/// Things that a server's handler saw, in order.
@LoopActor
final class ServerLog {
  private(set) var lines: [String] = []

  nonisolated init() {}

  func note(_ line: String) { lines.append(line) }
}
