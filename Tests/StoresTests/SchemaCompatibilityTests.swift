import Foundation
import Postgres
import Support
import Testing

@testable import Stores

/// Expand, then contract: what older builds ask for stays while `Schema.serves` names them.
@Suite struct SchemaCompatibilityTests {
  /// The statements of the build whose newest step was `version`, as they stood in its source; none is edited later.
  private static func statements(_ version: Int) throws -> [String] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let text = try String(contentsOf: folder.appending(path: "schema-\(version)-statements.sql"), encoding: .utf8)
    return text.components(separatedBy: "\n;\n")
  }

  /// How many parameters a statement has: the greatest of its numbers.
  private static func parameters(_ statement: String) -> Int {
    statement.split(separator: "$").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }.max() ?? 0
  }

  @Test(arguments: Array(Schema.serves..<Schema.version))
  func `Every statement of an older build that is still served finds what it names`(version: Int) async throws {
    let statements = try Self.statements(version)
    #expect(statements.count >= 20)
    try await ScratchDatabase.use { database in
      let store = await PostgresStore(url: database.url, maximum: 1) { _ in }
      _ = try await store.migrate()
      await store.close()
      let pool = await PostgresPool(database.url, maximum: 1, applicationName: "tests") { _ in }
      for statement in statements {
        let nothing = Array(repeating: "null", count: Self.parameters(statement)).joined(separator: ", ")
        do {
          try await pool.script(
            "begin; prepare s as \(statement); execute s\(nothing.isEmpty ? "" : "(\(nothing))"); deallocate s; rollback"
          )
        } catch let failure as PostgresFailure {
          // Nulls may be refused for what they are; a name, a column or a parameter that is gone is of class 42.
          #expect(failure.sqlState?.hasPrefix("42") == false, "\(statement): \(failure)")
          try? await pool.script("rollback; deallocate all")
        }
      }
      await pool.close()
    }
  }
}
