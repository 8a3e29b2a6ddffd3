internal import Loop

/// A deadline that moves often and passes seldom: moving it later costs no timer.
@LoopActor
final class Deadline {
  private(set) var due: Monotonic?
  private var armed: (timer: Timer, due: Monotonic)?
  private var passed: (@LoopActor () -> Void)?

  init(_ passed: @escaping @LoopActor () -> Void) { self.passed = passed }

  var isSet: Bool { due != nil }

  func set(milliseconds: Int) {
    let due = Monotonic.now.advanced(milliseconds: milliseconds)
    self.due = due
    if let armed {
      if armed.due <= due { return }
      EventLoop.shared.cancel(armed.timer)
    }
    arm(due)
  }

  func clear() { due = nil }

  /// Lets go of the timer and of what it would call.
  func end() {
    due = nil
    passed = nil
    if let armed { EventLoop.shared.cancel(armed.timer) }
    armed = nil
  }

  private func arm(_ due: Monotonic) {
    let wait = due.nanoseconds - min(due.nanoseconds, Monotonic.now.nanoseconds)
    let timer = EventLoop.shared.after(milliseconds: Int((wait + 999_999) / 1_000_000)) { self.fired() }
    armed = (timer, due)
  }

  private func fired() {
    armed = nil
    guard let due else { return }
    if due > Monotonic.now { return arm(due) }
    self.due = nil
    passed?()
  }
}
