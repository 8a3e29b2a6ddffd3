import Contract
import FoundationEssentials
import Http
import Json
import Loop
import Operations
import SQLite
import Testing

@testable import Stores
@testable import worker

@Suite("What a worker says of itself") @LoopActor
struct ReadinessTests {
  private func told(_ reply: HttpResponse) throws -> (status: Int, database: String?) {
    (reply.status, try JsonReader.read(reply.body)["database"]?.string)
  }

  /// A worker's lanes on a file of their own.
  private func withFloor(_ body: (LaneFloor, SQLiteStore) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "ready-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let configuration = try WorkerConfiguration(environment: ["ORCA_PUSH_DATA_DIR": directory])
    let log = Log(program: "test", minimum: nil)
    let queue = try await OpenStore(configuration.database, program: "worker", log: log)
    try await body(
      LaneFloor(configuration, Senders(try CredentialReading(configuration), log), queue, Metrics(), log),
      try #require(queue.store as? SQLiteStore))
    await queue.close()
  }

  @Test("A disk that is full makes it not ready until there is room again")
  func fullDisk() async throws {
    try await withFloor { floor, store in
      #expect(try await told(floor.ready()) == (200, nil))

      try await store.limitPages(reached: true)
      await #expect(throws: StoreFailure.unavailable(StoreFailure.diskFull)) {
        for number in 0..<1_000 {
          try await store.saveChallenge(
            id: "\(number)", fingerprint: try #require(HostFingerprint("AAAAAAAAAAAAAAAA")),
            proofDigest: [UInt8](repeating: 1, count: 4_096))
        }
      }
      #expect(try await told(floor.ready()) == (503, "the disk is full: nothing can be written"))

      try await store.limitPages(reached: false)
      #expect(try await told(floor.ready()) == (200, nil))
    }
  }

  @Test("A file that another build has taken over makes it not ready")
  func newerSchema() async throws {
    try await withFloor { floor, store in
      try await store.claimNewerSchema()
      #expect(try await told(floor.ready()) == (503, Schema.mismatch(found: 999)))
    }
  }

  @Test("A database that does not answer makes it not ready")
  func unreachable() async throws {
    // Nobody listens on a port that was free a moment ago.
    let server = HttpServer { _, _ in HttpResponse(status: 200) }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    server.stop()
    let configuration = try WorkerConfiguration(
      environment: ["ORCA_PUSH_DATABASE_URL": "postgresql://nobody@127.0.0.1:\(port)/none"])
    let log = Log(program: "test", minimum: nil)
    let queue = try await OpenStore(configuration.database, program: "worker", log: log)
    let floor = LaneFloor(
      configuration, Senders(try CredentialReading(configuration), log), queue, Metrics(), log)
    #expect(try await told(floor.ready()) == (503, "the database does not answer"))
    await queue.close()
  }
}

extension SQLiteStore {
  fileprivate func claimNewerSchema() throws { try file.run("pragma user_version = 999") }

  /// SQLite counts a bound of pages that is reached for a full disk.
  fileprivate func limitPages(reached: Bool) throws {
    if reached { try file.run("pragma max_page_count = 1") } else { try file.run("pragma max_page_count = 1000000") }
  }
}
