import Foundation

/// A program that runs to its end.
enum Command {
  struct Result: Sendable {
    var code: Int32
    var output: String
    var complaints: String
  }

  /// Runs `program` with `input` on its standard input.
  static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], input: String = ""
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { waiter in
      // Everything here blocks, so it has a thread of its own.
      Thread.detachNewThread {
        waiter.resume(with: Swift.Result { try runNow(program, arguments, environment, input) })
      }
    }
  }

  private static func runNow(
    _ program: String, _ arguments: [String], _ environment: [String: String], _ input: String
  ) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    // Files, not pipes: none of the three can make the program wait.
    let folder = NSTemporaryDirectory() + "command-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let names = ["in", "out", "err"].map { folder + "/" + $0 }
    try Data(input.utf8).write(to: URL(fileURLWithPath: names[0]))
    for name in names.dropFirst() { try Data().write(to: URL(fileURLWithPath: name)) }
    process.standardInput = FileHandle(forReadingAtPath: names[0])
    process.standardOutput = FileHandle(forWritingAtPath: names[1])
    process.standardError = FileHandle(forWritingAtPath: names[2])
    try process.run()
    process.waitUntilExit()
    return Result(
      code: process.terminationStatus, output: try String(contentsOfFile: names[1], encoding: .utf8),
      complaints: try String(contentsOfFile: names[2], encoding: .utf8))
  }
}
