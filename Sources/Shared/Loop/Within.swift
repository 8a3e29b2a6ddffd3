/// What `work` gives, or nil when that takes longer than `milliseconds`. Work that comes too late goes on by itself, and
/// what it gives is thrown away.
@LoopActor
package func within<T: Sendable>(
  milliseconds: Int, _ work: @escaping @LoopActor () async -> T
) async -> T? {
  let race = Race<T>()
  return await withUnsafeContinuation { waiter in
    race.waiter = waiter
    race.timer = EventLoop.shared.after(milliseconds: milliseconds) { race.end(nil) }
    Task(executorPreference: EventLoop.shared) { await race.run(work) }
  }
}

/// Whichever of work and time comes first, answers.
@LoopActor
private final class Race<T: Sendable> {
  var waiter: UnsafeContinuation<T?, Never>?
  var timer: Timer?

  func run(_ work: @LoopActor () async -> T) async { end(await work()) }

  func end(_ result: T?) {
    EventLoop.shared.cancel(timer)
    waiter?.resume(returning: result)
    waiter = nil
  }
}
