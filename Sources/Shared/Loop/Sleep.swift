extension EventLoop {
  /// Suspends the caller for `milliseconds`. Ends early, throwing `CancellationError`, when its task is cancelled.
  @LoopActor
  package func sleep(milliseconds: Int) async throws {
    try Task.checkCancellation()
    let nap = Nap()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        nap.begin(waiter, after(milliseconds: milliseconds) { nap.end(.success(())) })
      }
    } onCancel: {
      Task { @LoopActor in nap.end(.failure(CancellationError())) }
    }
  }
}

/// One sleeper: whichever of timer and cancellation comes first, ends it.
@LoopActor
private final class Nap {
  private var waiter: CheckedContinuation<Void, any Error>?
  private var timer: Timer?
  private var ended = false

  nonisolated init() {}

  func begin(_ waiter: CheckedContinuation<Void, any Error>, _ timer: Timer) {
    self.waiter = waiter
    self.timer = timer
    if ended { end(.failure(CancellationError())) }
  }

  func end(_ result: Result<Void, any Error>) {
    ended = true
    EventLoop.shared.cancel(timer)
    waiter?.resume(with: result)
    waiter = nil
  }
}
