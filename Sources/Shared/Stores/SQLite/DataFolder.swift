internal import Glibc

/// The folder of a database file.
package enum DataFolder {
  /// Makes the folder and what is missing above it, for its owner alone.
  /// - Returns: why it is not there, nil when it is.
  static func make(_ path: String) -> String? {
    var made = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
    for part in path.split(separator: "/") {
      made += part
      if mkdir(made, 0o700) != 0, errno != EEXIST { return "\(made) cannot be made: \(reason(errno))" }
      made += "/"
    }
    return access(path, F_OK) == 0 ? nil : reason(errno)
  }

  /// Why a database could not be kept there; nil when it could.
  package static func complaint(_ path: String) -> String? {
    access(path, W_OK | X_OK) == 0 ? nil : "the folder cannot be written"
  }

  /// What this user may still write on the disk that holds `path`, bytes; as much as there can be where nobody can tell.
  static func room(beside path: String) -> UInt64 {
    var found = statvfs()
    // A file system that counts nothing has no blocks.
    guard statvfs(path, &found) == 0, found.f_blocks > 0 else { return .max }
    // Some of it is kept for root.
    let blocks = geteuid() == 0 ? found.f_bfree : found.f_bavail
    let (bytes, isTooMany) = UInt64(found.f_frsize).multipliedReportingOverflow(by: UInt64(blocks))
    return isTooMany ? .max : bytes
  }

  private static func reason(_ number: Int32) -> String {
    strerror(number).map { String(cString: $0) } ?? "error \(number)"
  }
}
