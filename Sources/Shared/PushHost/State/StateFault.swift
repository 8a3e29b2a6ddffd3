internal import Foundation

/// Why a host's own files could not be read or written. It names the file and the system's reason, never a content.
public struct StateFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file or folder.
  public let path: String
  /// What is wrong with it, to be read after its name.
  public let reason: String

  /// For instance "/home/a/.push/host.key: Permission denied".
  public var description: String { "\(path): \(reason)" }

  init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  /// With the system's words for the error that it just gave.
  init(path: String, errno code: Int32 = errno) {
    self.init(path: path, reason: String(cString: strerror(code)))
  }
}
