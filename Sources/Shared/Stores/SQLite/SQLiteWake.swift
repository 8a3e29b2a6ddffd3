package import Contract
package import Loop

/// Wakes the workers of this machine through a file beside the database, those of all routes.
@LoopActor
package final class SQLiteWake: QueueSignal, QueueWatch {
  private let file: WakeFile

  /// Nil when the data directory cannot be written.
  package init?(directory: String) {
    guard let file = WakeFile(path: directory + "/push.wake") else { return nil }
    self.file = file
  }

  package func raise(_: Set<Route>, isCrowd _: Bool) { file.raise() }

  package func start(_ woken: @escaping @LoopActor (Set<Route>) -> Void) {
    _ = file.listen { woken(Set(Route.allCases)) }
  }

  package func stop() { file.stop() }
}
