package import Postgres

/// A database of one test's own on the server that PUSH_TEST_DATABASE_URL names.
package struct ScratchDatabase: Sendable {
  /// As a program would be given it.
  package let text: String
  package let url: PostgresUrl

  /// Makes an empty database with a name of its own.
  package static func create() async throws -> ScratchDatabase { throw PostgresFailure.closed }

  /// Drops it, with whoever is still connected.
  package func drop() async throws {}

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
}
