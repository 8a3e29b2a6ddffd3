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
