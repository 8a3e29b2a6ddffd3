internal import Contract
internal import Glibc
internal import Keys
package import Loop
package import Operations
internal import Postgres

/// The gateway's database, opened for reading records alone: nothing is made, brought up to date or locked.
@LoopActor
package struct OpenRecords {
  package let records: any RecordStore
  private let postgres: PostgresStore?

  /// Opens it and sees that its schema is the one that this build knows.
  /// - Parameter program: how a server's list of sessions names this program.
  package init(_ settings: DatabaseSettings, program: String) async throws(ProgramFailure) {
    switch settings.place {
    case .sqlite(let directory):
      postgres = nil
      let path = directory + "/" + SQLiteStore.fileName
      guard access(path, F_OK) == 0 || errno != ENOENT else {
        throw ProgramFailure(.unavailable, "\(path) does not exist: is ORCA_PUSH_DATA_DIR the folder that api uses?")
      }
      do {
        let reader = try await SQLiteReader(path: path, clock: { WallClock.milliseconds })
        records = reader
        try Self.check(try await reader.schemaVersion())
      } catch let failure as ProgramFailure {
        throw failure
      } catch {
        throw StoreFailure(error).opening(directory)
      }
    case .postgres(let secret):
      let url: PostgresUrl
      do { url = try PostgresUrl(secret.reveal()) } catch {
        throw ProgramFailure(.configuration, "ORCA_PUSH_DATABASE_URL: \(error.reason)")
      }
      let store = PostgresStore(url: url, maximum: 1, applicationName: "push-\(program)")
      postgres = store
      records = store
      let version: Int
      do { version = try await store.schemaVersion() } catch {
        await store.close()
        throw ProgramFailure(.unavailable, "the database cannot be reached: \(error.reason)")
      }
      try Self.check(version)
    }
  }

  private static func check(_ version: Int) throws(ProgramFailure) {
    if let mend = Schema.mismatch(found: version) { throw ProgramFailure(.configuration, mend) }
  }

  package func close() async { await postgres?.close() }
}
