internal import Loop
internal import Operations
internal import Stores

/// Gives batches back to the queue, many at a time. One that cannot be given back lapses by its lease.
@LoopActor
final class Releaser: Flushable {
  private let store: any Store
  private let faults: LogTally
  /// By the names that they were claimed under.
  private var waiting: [Int64: [(key: BatchKey, reason: String?)]] = [:]
  private var failed: Set<Int64> = []
  private var isRunning = false
  private var idleWaiters: [CheckedContinuation<Void, Never>] = []

  init(store: any Store, faults: LogTally) {
    self.store = store
    self.faults = faults
  }

  /// - Parameters:
  ///   - owner: the name that it was claimed under.
  ///   - reason: for the record of the batch's deliveries.
  func release(_ batch: BatchKey, owner: Int64, _ reason: String?) {
    waiting[owner, default: []].append((batch, reason))
    if isRunning { return }
    isRunning = true
    EventLoop.shared.flushAtTurnsEnd(self)
  }

  func flush() {
    EventLoop.shared.start { [self] in
      while let (owner, batches) = waiting.popFirst() {
        do { try await store.release(batches, owner: owner) } catch {
          faults.count("release")
          failed.insert(owner)
        }
      }
      isRunning = false
      for waiter in idleWaiters { waiter.resume() }
      idleWaiters = []
    }
  }

  /// Whether something could not be given back under this name since that was asked last.
  func hasFailed(_ owner: Int64) -> Bool { failed.remove(owner) != nil }

  /// Returns once nothing waits.
  func idle() async {
    // Looked at inside: nothing may come between the look and the wait.
    await withCheckedContinuation { waiter in
      if isRunning { idleWaiters.append(waiter) } else { waiter.resume() }
    }
  }
}
