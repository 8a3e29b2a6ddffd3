package import Loop

/// Wakes idle workers when something was admitted. A lost wake-up costs time, never a delivery: workers look by themselves too.
@LoopActor
package protocol QueueSignal: AnyObject, Sendable {
  /// Says that the queue has something new. Call after the commit; never waits.
  func raise()
}

/// Hears what `QueueSignal` says, in whatever process it was said.
@LoopActor
package protocol QueueWatch: AnyObject, Sendable {
  /// Calls `woken` on the loop after each signal; several in a row may come as one.
  func start(_ woken: @escaping @LoopActor () -> Void)
  func stop()
}
