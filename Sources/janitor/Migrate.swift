internal import Loop
internal import Operations
internal import Stores

/// Brings the schema up to date. Safe to run twice, and while another does (rulings 7).
@LoopActor
struct Migrate {
  private let store: any Store
  private let log: Log

  init(_ store: any Store, _ log: Log) {
    self.store = store
    self.log = log
  }

  func run() async throws(ProgramFailure) {
    // One that is too new stays so, however often this runs.
    if let found = try? await store.schemaVersion(), found > Schema.version, let mend = Schema.mismatch(found: found) {
      throw ProgramFailure(.configuration, mend)
    }
    do {
      let taken = try await store.migrate()
      log.notice(
        taken.isEmpty ? "the schema is up to date" : "the schema was brought up to date",
        ["version": .integer(Int64(Schema.version)), "steps": .integer(Int64(taken.count))])
    } catch {
      throw ProgramFailure(
        .unavailable, "the schema could not be brought up to date (ORCA_PUSH_DATABASE_URL): \(error.reason)")
    }
  }
}
