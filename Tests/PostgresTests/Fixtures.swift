import Foundation
import Glibc
import Loop
import Postgres
import Support

/// Runs `body` with a pool on a scratch database of its own.
func withPool(
  maximum: Int = 2, limits: PostgresLimits = .patient,
  _ body: (PostgresPool, ScratchDatabase) async throws -> Void
) async throws {
  try await ScratchDatabase.use { database in
    let pool = await PostgresPool(database.url, maximum: maximum, applicationName: database.name, limits: limits) { _ in
    }
    do {
      try await body(pool, database)
      await pool.close()
    } catch {
      await pool.close()
      throw error
    }
  }
}

extension PostgresPool {
  /// Every call's outcome, in the order of `calls`; all are made in one go.
  func runAll(
    _ statement: PostgresStatement, _ calls: [[PostgresValue]]
  ) async -> [Result<PostgresRows, PostgresFailure>] {
    // In turn on the loop, as programs make them: plain tasks pass through the shared pool, where they change places.
    let running = calls.map { values in EventLoop.shared.start { await self.outcome(statement, values) } }
    var outcomes: [Result<PostgresRows, PostgresFailure>] = []
    for call in running { outcomes.append(await call.value) }
    return outcomes
  }

  private func outcome(
    _ statement: PostgresStatement, _ values: [PostgresValue]
  ) async -> Result<PostgresRows, PostgresFailure> {
    do throws(PostgresFailure) {
      return .success(try await run(statement, values))
    } catch {
      return .failure(error)
    }
  }

  /// Tries again until the statement succeeds, for at most `seconds`.
  func runUntilItSucceeds(_ statement: PostgresStatement, seconds: Double = 60) async throws -> PostgresRows {
    let start = Monotonic.now
    while Monotonic.now.seconds(since: start) < seconds {
      if let rows = try? await run(statement) { return rows }
      try await EventLoop.shared.sleep(milliseconds: 20)
    }
    return try await run(statement)
  }
}

extension Result where Success == PostgresRows, Failure == PostgresFailure {
  var failure: PostgresFailure? { if case .failure(let failure) = self { failure } else { nil } }

  /// `get` without its typed throws, which `#expect` does not understand.
  func rows() throws -> PostgresRows { try get() }
}

/// Milliseconds that `body` took, and what it threw.
func timed(_ body: () async throws -> Void) async -> (milliseconds: Int, failure: PostgresFailure?) {
  let start = Monotonic.now
  do {
    try await body()
    return (Monotonic.now.milliseconds(since: start), nil)
  } catch {
    return (Monotonic.now.milliseconds(since: start), error as? PostgresFailure)
  }
}

/// Lines that a pool logged.
final class LogLines: Sendable {
  private let lines = Locked<[String]>([])
  func append(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

/// A server of the test's own, to be stopped and started.
struct OwnServer: Sendable {
  let directory: String
  let url: String

  static func use(_ body: (OwnServer) async throws -> Void) async throws {
    let directory = "/tmp/push-test-postgres-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    let server = OwnServer(directory: directory, url: try await script("start", directory))
    do {
      try await body(server)
    } catch {
      await server.destroy()
      throw error
    }
    await server.destroy()
  }

  func start() async throws { _ = try await Self.script("start", directory) }
  func stop() async throws { _ = try await Self.script("stop", directory) }

  private func destroy() async {
    try? await stop()
    try? FileManager.default.removeItem(atPath: directory)
  }

  private static func script(_ command: String, _ directory: String) async throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..").standardized
    return try await BlockingCalls(name: "script").run {
      let process = Process()
      process.executableURL = root.appendingPathComponent("scripts/test-postgres")
      process.arguments = [command, directory]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      // The server keeps no end of the pipe: its output goes to its log.
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw PostgresFailure.unreachable("scripts/test-postgres failed") }
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }
}
