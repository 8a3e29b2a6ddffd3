import Foundation

/// A file that lives as long as its test.
final class ScratchFile {
  let path: String

  init(_ text: String) throws {
    path = NSTemporaryDirectory() + "operations-" + UUID().uuidString
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A folder that lives as long as its test.
final class ScratchFolder {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "operations-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func path(_ name: String) -> String { folder.appending(path: name).path }
  func write(_ name: String, _ text: String) throws { try Data(text.utf8).write(to: folder.appending(path: name)) }
  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

  /// Makes `name` a link to another file of the folder, in place of what it was.
  func link(_ name: String, to other: String) throws {
    try? remove(name)
    try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: other)
  }
}
