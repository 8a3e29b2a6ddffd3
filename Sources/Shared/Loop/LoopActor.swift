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
  package static func assumeIsolated<T>(_ operation: @LoopActor () throws -> T) rethrows -> T {
    precondition(EventLoop.shared.isCurrentThread, "not on the event loop")
    return try withoutActuallyEscaping(operation) { escaping in
      // The isolation was just checked; the attribute has no representation of its own.
      try unsafeBitCast(escaping, to: (() throws -> T).self)()
    }
  }
}
