package import Foundation

/// Reads a pipe to its end on a thread of its own. `FileHandle.readabilityHandler` is no way to do so: on Linux it now and
/// then never says that the pipe has ended, and who waits for a program's last line waits for ever.
package enum PipeReader {
  /// Gives each piece to `take` as it comes, and calls `end` once there are no more.
  package static func start(
    _ pipe: Pipe, take: @escaping @Sendable (Data) -> Void = { _ in }, end: @escaping @Sendable () -> Void = {}
  ) {
    Thread.detachNewThread {
      while case let bytes = pipe.fileHandleForReading.availableData, !bytes.isEmpty { take(bytes) }
      end()
    }
  }
}
