internal import Glibc
package import Operations

extension StoreFailure {
  /// What to tell whoever set `ORCA_PUSH_DATA_DIR` to a folder whose database file cannot be opened.
  package func opening(_ directory: String) -> ProgramFailure {
    let place = "ORCA_PUSH_DATA_DIR (\(directory))"
    switch self {
    case .refused(let why): return ProgramFailure(.configuration, "\(place): \(why)")
    case .unavailable(let why), .unknown(let why):
      let stranger = [directory + "/" + SQLiteStore.fileName, directory].lazy.compactMap(Self.stranger).first
      return ProgramFailure(.unavailable, "\(place): \(why)" + (stranger.map { ": \($0)" } ?? ""))
    }
  }

  /// Whose a path is that this program may not write; nil where it may, and where it is its own.
  private static func stranger(_ path: String) -> String? {
    var facts = stat()
    guard access(path, W_OK) != 0, stat(path, &facts) == 0, facts.st_uid != geteuid() else { return nil }
    return "\(path) belongs to user \(facts.st_uid), and this program runs as user \(geteuid())"
  }
}
