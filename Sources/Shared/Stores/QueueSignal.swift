package import Contract
package import Loop

/// Wakes idle workers when something was admitted. A lost wake-up costs time, never a delivery: workers look by themselves too.
@LoopActor
package protocol QueueSignal: AnyObject, Sendable {
  /// Says that the queue has something new for these routes. Call after the commit; never waits.
  /// - Parameter isCrowd: it came together with others, and more will: it may be told some milliseconds later, with them.
  func raise(_ routes: Set<Route>, isCrowd: Bool)
}

/// Hears what `QueueSignal` says, in whatever process it was said.
@LoopActor
package protocol QueueWatch: AnyObject, Sendable {
  /// Calls `woken` on the loop after each signal, with the routes that may have something new; several in a row may come as
  /// one.
  func start(_ woken: @escaping @LoopActor (Set<Route>) -> Void)
  func stop()
}
