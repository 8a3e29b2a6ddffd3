import Foundation
import Loop
package import Postgres

/// A database of one test's own on the throw-away server that PUSH_TEST_DATABASE_URL names
/// (`scripts/test-postgres start DIR` starts one and prints the URL).
package struct ScratchDatabase: Sendable {
  /// The database's URL, as a program would be given it.
  package let text: String
  package let url: PostgresUrl
  /// The database's name.
  package let name: String

  /// The server's administrator URL.
  package static var administrator: String {
    get throws {
      guard let text = ProcessInfo.processInfo.environment["PUSH_TEST_DATABASE_URL"], !text.isEmpty else {
        throw Missing(description: "PUSH_TEST_DATABASE_URL is not set: scripts/test-postgres start DIR prints a value")
      }
      return text
    }
  }

  /// Whether a pooler stands before the server.
  package static var isPooled: Bool { (try? administrator)?.contains("prepared=off") == true }

  package struct Missing: Error, CustomStringConvertible {
    package let description: String
  }

  /// Makes an empty database with a name of its own.
  package static func create() async throws -> ScratchDatabase {
    let name = "scratch_" + String(UInt64.random(in: .min ... .max), radix: 36)
    try await administer("CREATE DATABASE \(name) TEMPLATE template0")
    let text = try replacingDatabase(of: administrator, with: name)
    return ScratchDatabase(text: text, url: try PostgresUrl(text), name: name)
  }

  /// Drops it, with whoever is still connected.
  package func drop() async throws { try await Self.administer("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }

  /// Makes one, runs `body`, and drops it whatever happens.
  package static func use<T>(_ body: (ScratchDatabase) async throws -> T) async throws -> T {
    let database = try await create()
    do {
      let result = try await body(database)
      try await database.drop()
      return result
    } catch {
      try? await database.drop()
      throw error
    }
  }

  /// Runs statements as the server's administrator.
  package static func administer(_ sql: String) async throws {
    let pool = await PostgresPool(
      try PostgresUrl(administrator), maximum: 1, applicationName: "tests", limits: .patient
    ) { _ in }
    try await pool.script(sql)
    await pool.close()
  }

  /// `postgresql://…/old?…` with another database.
  private static func replacingDatabase(of url: String, with name: String) -> String {
    var parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
    if parts.count < 4 { parts.append("") }
    parts[3] = name + (parts[3].firstIndex(of: "?").map { String(parts[3][$0...]) } ?? "")
    return parts.joined(separator: "/")
  }
}
