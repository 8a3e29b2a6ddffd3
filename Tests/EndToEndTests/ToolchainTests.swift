import Foundation
import Testing

/// `scripts/toolchain`, before a compiler complains in words of its own.
@Suite struct ToolchainTests {
  @Test(
    "A Swift that is too old is told from one that will do",
    arguments: [("5.10.1", 1), ("6.1", 1), ("6.2", 0), ("6.3.1", 0), ("6.10", 0), ("7.0", 0), ("of today", 0)])
  func version(swift: String, code: Int32) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "swift").path
    let text = "#!/bin/sh\necho 'Swift version \(swift) (swift-\(swift)-RELEASE)'\necho 'Target: x86_64'\n"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    let script = URL(filePath: #filePath).appending(path: "../../../scripts/toolchain").standardizedFileURL.path
    let told = try await Command.run(script, [], environment: ["PATH": folder.path + ":/usr/bin:/bin"])
    #expect(told.code == code)
    #expect(told.errors.contains("This is Swift \(swift.prefix(4))") == (code != 0))
    #expect(told.errors.isEmpty == (code == 0))
  }
}
