import Foundation
import Json
import Support

/// A program of the package, or any other, as a process whose output comes line by line. It ends with the tests,
/// whatever happens to them.
actor Program {
  struct Ended: Error, CustomStringConvertible {
    let description: String
  }

  let name: String
  private let process = Process()
  private let input = Pipe()
  private var lines: AsyncStream<String>.Iterator
  private var seen: [String] = []
  private let exit: AsyncStream<Int32>
  private let isLeashed: Bool

  /// A program of the package, by name.
  init(_ name: String, _ arguments: [String] = [], environment: [String: String] = [:]) throws {
    // The tests' own binary lies beside the programs.
    let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    try self.init(
      name, running: [folder.appending(path: name).path] + arguments, environment: environment, isLeashed: true)
  }

  /// Another program, which reads lines from us and ends when we do.
  init(
    _ name: String, running command: [String], environment: [String: String] = [:], in directory: URL? = nil,
    isLeashed: Bool = false
  ) throws {
    self.name = name
    self.isLeashed = isLeashed
    // Whoever we write to may have ended.
    signal(SIGPIPE, SIG_IGN)
    if let directory { process.currentDirectoryURL = directory }
    let leash = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "leash.py").path
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = (isLeashed ? ["python3", leash] : []) + command
    var all = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("ORCA_PUSH_") }
    all.merge(environment) { _, new in new }
    process.environment = all
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.standardError

    let (lines, produced) = AsyncStream<String>.makeStream()
    self.lines = lines.makeAsyncIterator()
    let gathered = Gathered()
    let (exit, ended) = AsyncStream<Int32>.makeStream()
    self.exit = exit
    process.terminationHandler = {
      ended.yield($0.terminationStatus)
      ended.finish()
    }
    try process.run()
    PipeReader.start(output) { bytes in
      for line in gathered.add(bytes) { produced.yield(line) }
    } end: {
      produced.finish()
    }
  }

  /// The next line of output.
  func line() async throws -> String {
    var lines = lines
    let line = await lines.next(isolation: self)
    self.lines = lines
    guard let line else { throw Ended(description: "\(name) ended after: \(seen.suffix(5).joined(separator: "\n"))") }
    seen.append(line)
    return line
  }

  /// All further lines, to the end of output.
  func rest() async -> [String] {
    var rest: [String] = []
    while let line = try? await line() { rest.append(line) }
    return rest
  }

  /// Reads on to the log line whose message starts so.
  func logged(_ message: String) async throws -> JsonValue {
    while true {
      let json = try JsonReader.read(Array(try await line().utf8))
      if json["message"]?.string?.hasPrefix(message) == true { return json }
    }
  }

  /// Writes a line to the program.
  func write(_ line: [UInt8]) throws {
    try input.fileHandleForWriting.write(contentsOf: Data(line + [UInt8(ascii: "\n")]))
  }

  /// Asks a program of ours to read its files again, as SIGHUP does.
  func hangUp() throws { try write(Array("hangup".utf8)) }

  /// Asks the program to end as an operator does, or ends its input where it is not one of ours, and waits; its exit code.
  @discardableResult
  func stop() async -> Int32 {
    if isLeashed { try? write([]) } else { try? input.fileHandleForWriting.close() }
    var code: Int32 = 0
    for await status in exit { code = status }
    if isLeashed { try? input.fileHandleForWriting.close() }
    return code
  }
}

/// Bytes put together to lines. `@unchecked Sendable`: only the pipe's reader touches it.
private final class Gathered: @unchecked Sendable {
  private var rest: [UInt8] = []

  func add(_ bytes: Data) -> [String] {
    rest += bytes
    var parts = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    rest = Array(parts.removeLast())
    return parts.map { String(decoding: $0, as: UTF8.self) }
  }
}
