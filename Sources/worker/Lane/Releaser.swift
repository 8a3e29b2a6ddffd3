internal import Loop
internal import Operations
internal import Stores

/// Gives batches back to the queue, many at a time. One that cannot be given back lapses by its lease.
@LoopActor
final class Releaser: Flushable {
  private let store: any Store
  private let owner: Int64
  private let faults: LogTally
  private var waiting: [(key: BatchKey, reason: String?)] = []
  private var isRunning = false
  private var idleWaiters: [CheckedContinuation<Void, Never>] = []

  init(store: any Store, owner: Int64, faults: LogTally) {
    self.store = store
    self.owner = owner
    self.faults = faults
  }

  /// - Parameter reason: for the record of the batch's deliveries.
  func release(_ batch: BatchKey, _ reason: String?) {
    waiting.append((batch, reason))
    if isRunning { return }
    isRunning = true
    EventLoop.shared.flushAtTurnsEnd(self)
  }

  func flush() {
    EventLoop.shared.start { [self] in
      while !waiting.isEmpty {
        let batch = waiting
        waiting = []
        do { try await store.release(batch, owner: owner) } catch { faults.count("release") }
      }
      isRunning = false
      for waiter in idleWaiters { waiter.resume() }
      idleWaiters = []
    }
  }

  /// Returns once nothing waits.
  func idle() async {
    // Looked at inside: nothing may come between the look and the wait.
    await withCheckedContinuation { waiter in
      if isRunning { idleWaiters.append(waiter) } else { waiter.resume() }
    }
  }
}
