import Foundation
import Json
import Support
import Testing

/// How the sandbox ends when it cannot begin.
@Suite(.serialized) struct StartTests {
  private func run(_ arguments: [String]) async throws -> Command.Result {
    let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "sandbox").path
    let folder = NSTemporaryDirectory() + "sandbox-" + UUID().uuidString
    // With keys that are there already: making new ones would keep a processor from the other tests.
    try FileManager.default.copyItem(atPath: try await SharedSandbox.running.directory, toPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // One that came up all the same ends with its empty input.
    return try await Command.run(program, ["--dir", folder, "--stop-at-eof"] + arguments)
  }

  @Test(arguments: ["apns-production", "apns-sandbox", "fcm", "metadata", "control"])
  func `A port that is taken is named with its flag`(name: String) async throws {
    let running = try await SharedSandbox.running
    let taken = try #require(running.description["ports"]?["control"]?.integer)
    let others = ["apns-production", "apns-sandbox", "fcm", "metadata", "control"].filter { $0 != name }
    let result = try await run(["--\(name)-port", "\(taken)"] + others.flatMap { ["--\($0)-port", "0"] })
    #expect(result.code == 69)
    let told = result.complaints.split(separator: "\n")
    #expect(told.count == 1)
    #expect(told.first?.hasPrefix("sandbox: --\(name)-port: port \(taken) is taken") == true)
  }

  @Test func `Words that it does not know end it with 64 and how it is called`() async throws {
    let result = try await run(["--no-such-port", "1"])
    #expect(result.code == 64)
    #expect(result.complaints.hasPrefix("sandbox: \"--no-such-port\" is none of its words\nsandbox: usage: sandbox"))
  }
}
