import Foundation
import Json

/// A program that runs to its end: one of the package by its name, another by its path.
struct Command {
  let code: Int32
  let output: String
  let errors: String

  /// The JSON that it printed.
  var json: JsonValue { (try? JsonReader.read(Array(output.utf8))) ?? .null }

  /// Runs it. `killedAfter`: ms until it is killed as by kill -9, if it still runs.
  static func run(
    _ name: String, _ arguments: [String], environment: [String: String] = [:], input: String = "",
    in folder: URL? = nil,
    killedAfter: Int? = nil
  ) async throws -> Command {
    try await withCheckedThrowingContinuation { waiter in
      Thread.detachNewThread {
        waiter.resume(
          with: Result { try runBlocking(name, arguments, environment, input, folder, killedAfter) }
        )
      }
    }
  }

  private static func runBlocking(
    _ name: String, _ arguments: [String], _ environment: [String: String], _ input: String,
    _ folder: URL?,
    _ killedAfter: Int?
  ) throws -> Command {
    signal(SIGPIPE, SIG_IGN)
    let process = Process()
    let products = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    process.executableURL = name.hasPrefix("/") ? URL(filePath: name) : products.appending(path: name)
    process.arguments = arguments
    if let folder { process.currentDirectoryURL = folder }
    var all = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("ORCA_PUSH_") && !$0.key.hasPrefix("PUSHHOST_")
    }
    all.merge(environment) { _, new in new }
    process.environment = all
    let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
    process.standardInput = stdin
    process.standardOutput = stdout
    process.standardError = stderr
    try process.run()
    let id = process.processIdentifier
    if let killedAfter {
      Thread.detachNewThread {
        usleep(UInt32(killedAfter) * 1_000)
        if process.isRunning { kill(id, SIGKILL) }
      }
    }
    try? stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try? stdin.fileHandleForWriting.close()
    // What it says to both is little enough for a pipe.
    let output = stdout.fileHandleForReading.readDataToEndOfFile()
    let errors = stderr.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let code =
      process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    return Command(
      code: code, output: String(decoding: output, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }
}
