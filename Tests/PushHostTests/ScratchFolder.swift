import Foundation
import Testing

@testable import PushHost

/// A state folder of one test's own, gone with it.
final class ScratchFolder: Sendable {
  let path: String

  init() {
    path =
      FileManager.default.temporaryDirectory.appending(path: "push-host-\(UUID().uuidString)").path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func open() throws -> StateFolder { try StateFolder(path: path) }

  /// The folder, with writes that stop at a step, as if the process had been killed there. `file` is the file's name.
  func open(stoppingAt step: FileStep, of file: String, after passes: Int = 0) throws -> StateFolder {
    let left = Guarded(passes)
    return try StateFolder(path: path) { (at, name) throws(StateFault) in
      guard at == step, name == file else { return }
      let isOver = left.withLock { left in
        left -= 1
        return left < 0
      }
      if isOver { throw StateFault(path: name, reason: "killed") }
    }
  }

  func write(_ name: String, _ text: String, mode: Int = 0o600) throws {
    _ = try open()
    let path = "\(path)/\(name)"
    let isMade = FileManager.default.createFile(
      atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
    #expect(isMade)
  }

  func mode(_ name: String = "") throws -> Int {
    try #require(
      FileManager.default.attributesOfItem(atPath: path + "/" + name)[.posixPermissions] as? Int)
  }
}
