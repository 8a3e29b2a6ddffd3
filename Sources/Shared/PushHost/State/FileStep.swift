/// The moments of a durable write, in order. A process may be killed between any two.
enum FileStep: String, CaseIterable, Sendable {
  case opened, written, synced, renamed, folderSynced
}

/// Called after each step with the file's name. Tests stop a write here; whoever throws leaves the disk as kill -9 would.
typealias FileSteps = @Sendable (FileStep, String) throws(StateFault) -> Void
