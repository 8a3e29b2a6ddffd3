import Foundation

/// Scripts beside the tests, run by the Python that has their packages.
enum Python {
  struct Ended: Error, CustomStringConvertible { let description: String }

  /// What a script writes, line by line, for these lines on its standard input.
  static func run(_ script: String, _ lines: [String]) async throws -> [String] {
    try await withCheckedThrowingContinuation { waiter in
      Thread.detachNewThread { waiter.resume(with: Result { try runBlocking(script, lines) }) }
    }
  }

  private static func runBlocking(_ script: String, _ lines: [String]) throws -> [String] {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "python3", URL(filePath: #filePath).deletingLastPathComponent().appending(path: script).path,
    ]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let text = lines.map { $0 + "\n" }.joined()
    let writer = input.fileHandleForWriting
    Thread.detachNewThread {
      try? writer.write(contentsOf: Data(text.utf8))
      try? writer.close()
    }
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Ended(description: "\(script) ended with \(process.terminationStatus)")
    }
    return String(decoding: answer, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
