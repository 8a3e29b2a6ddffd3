/// Isolation to the process's one event loop.
///
/// Everything that touches a socket, a libpq connection or an HTTP/2 session is `@LoopActor`, so that a request
/// never changes threads between its first byte and its reply, and none of that state needs a lock.
@globalActor
package actor LoopActor {
  package static let shared = LoopActor()

  package nonisolated var unownedExecutor: UnownedSerialExecutor { EventLoop.shared.asUnownedSerialExecutor() }

  /// Enters the loop's isolation from a C callback or a readiness call, which run on the loop's own thread.
  /// Stops the program when called from any other thread.
  package static func assumeIsolated(_ operation: @LoopActor () -> Void) {
    precondition(EventLoop.shared.isCurrentThread, "not on the event loop")
    enter(operation)
  }

  // Isolation has no representation of its own. It is cast off a function that takes the closure, once, and not off each
  // closure, which would have to be moved to the heap for that: too dear ten times a request.
  private static let enter = unsafeBitCast(
    { $0() } as @LoopActor (@LoopActor () -> Void) -> Void, to: (@Sendable (@LoopActor () -> Void) -> Void).self)
}
