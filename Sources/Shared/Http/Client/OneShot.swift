internal import Loop

/// A value that arrives once, and one task that waits for it no longer than it may.
@LoopActor
final class OneShot<Value: Sendable> {
  private var value: Value?
  private var waiter: CheckedContinuation<Value?, Never>?
  private var timer: Timer?

  /// Gives the value; later ones are ignored.
  func fulfil(_ value: Value) {
    guard self.value == nil else { return }
    self.value = value
    end(with: value)
  }

  /// The value, or nil when `deadline` comes first.
  func value(before deadline: Monotonic) async -> Value? {
    // Looked at inside: a task may let others run on its way into a continuation.
    await withCheckedContinuation { waiter in
      if let value { return waiter.resume(returning: value) }
      self.waiter = waiter
      timer = EventLoop.shared.after(milliseconds: deadline.milliseconds(since: .now) + 1) { [weak self] in
        self?.end(with: nil)
      }
    }
  }

  private func end(with value: Value?) {
    EventLoop.shared.cancel(timer)
    timer = nil
    waiter?.resume(returning: value)
    waiter = nil
  }
}
