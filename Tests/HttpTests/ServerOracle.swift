import Foundation

/// Two parsers of other people's, asked through `server_oracle.py`.
///
/// The interpreter is `PUSH_TEST_PYTHON`, or else `.venv/bin/python` of the package; `Tests/requirements.txt` names what it
/// needs installed.
enum ServerOracle {
  struct Verdict: Sendable {
    var h11: String
    var httptools: String
  }

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  static let python =
    ProcessInfo.processInfo.environment["PUSH_TEST_PYTHON"]
    ?? folder.appendingPathComponent("../../.venv/bin/python").standardized.path

  static let isInstalled = FileManager.default.isExecutableFile(atPath: python)

  static func verdicts(_ requests: [[UInt8]]) throws -> [Verdict] {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("requests-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for request in requests {
      for byte in request { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
      text.append(10)
    }
    try Data(text).write(to: file)
    let oracle = Process()
    let output = Pipe()
    oracle.executableURL = URL(fileURLWithPath: python)
    oracle.arguments = [folder.appendingPathComponent("server_oracle.py").path, file.path]
    oracle.standardOutput = output
    try oracle.run()
    let lines = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    oracle.waitUntilExit()
    return lines.split(separator: "\n").map { line in
      let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
      return Verdict(h11: parts[0], httptools: parts[1])
    }
  }
}
