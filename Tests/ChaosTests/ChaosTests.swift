import Foundation
import Support
import Testing

/// Kills under load, `scripts/chaos` in short: a few cycles, with the same judge of every promise.
@Suite("Killed programs", .serialized) struct ChaosTests {
  /// Seeds by which each kind of program is killed, a worker more than once.
  @Test("Whatever is killed under load, every promise is kept", arguments: [("sqlite", 85), ("postgres", 0)])
  func promises(store: String, seed: Int) async throws {
    let run = try await Self.chaos([
      "--store", store, "--seed", "\(seed)", "--cycles", "6", "--hosts", "3", "--freeze", "3", "--unrecorded", "5",
    ])
    #expect(run.code == 0, "\(run.said)")
    #expect(run.said.contains("chaos: every promise was kept"), "\(run.said)")
  }

  /// Runs it on the programs beside the tests; its exit code, and all that it says.
  private static func chaos(_ arguments: [String]) async throws -> (code: Int32, said: String) {
    let scripts = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    return try await offTheLoop {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      // It must not outlive the tests; the thread that starts it waits for it.
      process.arguments =
        ["setpriv", "--pdeathsig", "TERM", "--", "python3", scripts.appending(path: "chaos").path] + arguments
        + ["--bin", programs.path]
      let output = Pipe()
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let said = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }
  }
}
