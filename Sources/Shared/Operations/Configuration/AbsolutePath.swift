internal import Glibc

/// Paths as they are told to people: a relative one means little to whoever does not know where a program was started.
enum AbsolutePath {
  /// `path` as it is when it begins with a slash, else below the working directory.
  static func of(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = workingDirectory else { return path }
    let rest = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
    return folder == "/" ? "/" + rest : "\(folder)/\(rest)"
  }

  /// Where a file was looked for, in brackets: the path where it begins with a slash, else the folder that it is relative to.
  /// Anything else may be the secret itself, set where its file's path belongs, and is not repeated.
  static func place(of path: String) -> String {
    path.hasPrefix("/") ? " (\(path))" : " (looked for in \(workingDirectory ?? "."))"
  }

  private static var workingDirectory: String? {
    guard let place = getcwd(nil, 0) else { return nil }
    defer { free(place) }
    return String(cString: place)
  }
}
