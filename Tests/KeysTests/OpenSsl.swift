import Foundation

/// A folder of files for one run of the `openssl` command, gone with the test: the second opinion on all that is signed.
final class OpenSsl {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "keys-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Writes a file and returns its path.
  func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = folder.appending(path: name)
    try Data(bytes).write(to: file)
    return file.path
  }

  func file(_ name: String, _ text: String) throws -> String { try file(name, Array(text.utf8)) }

  func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }

  func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

  /// Runs `openssl` in the folder; what it printed, and whether it was content.
  @discardableResult
  func run(_ arguments: String...) throws -> (output: String, fine: Bool) {
    let command = Process()
    command.executableURL = URL(filePath: "/usr/bin/env")
    command.arguments = ["openssl"] + arguments
    command.currentDirectoryURL = folder
    let output = Pipe()
    command.standardOutput = output
    command.standardError = output
    command.standardInput = FileHandle.nullDevice
    try command.run()
    let printed = output.fileHandleForReading.readDataToEndOfFile()
    command.waitUntilExit()
    return (String(decoding: printed, as: UTF8.self), command.terminationStatus == 0)
  }
}
