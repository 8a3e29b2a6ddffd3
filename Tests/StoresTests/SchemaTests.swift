import Contract
import Foundation
import Loop
import Postgres
import Support
import Testing

@testable import Stores

/// Rulings 7: bringing a database up to date.
@Suite struct SchemaTests {
  @Test(arguments: StoreKind.allCases)
  func `A migrated store is at this build's version and answers`(on kind: StoreKind) async throws {
    try await kind.use { under in
      for store in [under.store, under.second] {
        #expect(try await store.schemaVersion() == Schema.version)
        try await store.ping()
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Migrating again takes no step and touches nothing`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host)
      try await under.send(.alert(1), host, [id])
      #expect(try await under.store.migrate().isEmpty)
      #expect(try await under.second.migrate().isEmpty)
      #expect(try await under.store.schemaVersion() == Schema.version)
      #expect(try await under.store.devices(of: host).map(\.registrationId) == [id])
      #expect(try await under.deliver().count == 1)
    }
  }

  @Test func `An empty database has no version until it is migrated`() async throws {
    try await ScratchDatabase.use { database in
      let store = await PostgresStore(url: database.url, maximum: 1) { _ in }
      #expect(try await store.schemaVersion() == 0)
      try await store.ping()
      await #expect(throws: StoreFailure.self) { _ = try await store.devices(of: try Self.host()) }
      #expect(try await store.migrate() == Array(1...Schema.version))
      #expect(try await store.schemaVersion() == Schema.version)
      #expect(try await store.devices(of: try Self.host()).isEmpty)
      await store.close()
    }
  }

  @Test func `A file is made with the folders above it, and its steps are told once`() async throws {
    let above = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: above) }
    let folder = above.appending(path: "deep/deeper").path
    let store = try await SQLiteStore(directory: folder)
    #expect(try await store.migrate() == Array(1...Schema.version))
    #expect(try await store.migrate().isEmpty)
    #expect(try await SQLiteStore(directory: folder).migrate().isEmpty)
    let modes = try [above.path, folder].map {
      try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int
    }
    #expect(modes == [0o700, 0o700])
  }

  @Test func `A folder that cannot be made is told of with the reason`() async throws {
    await #expect {
      _ = try await SQLiteStore(directory: "/dev/null/push")
    } throws: { error in
      guard case .unavailable(let why)? = error as? StoreFailure else { return false }
      return why == "/dev/null/push cannot be made: Not a directory"
    }
  }

  @Test func `Many that migrate one database at once take each step once`() async throws {
    try await ScratchDatabase.use { database in
      var stores: [PostgresStore] = []
      for _ in 0..<4 { stores.append(await PostgresStore(url: database.url, maximum: 1) { _ in }) }
      let steps = try await withThrowingTaskGroup(of: [Int].self) { group in
        for store in stores { group.addTask { try await store.migrate() } }
        return try await group.reduce(into: [Int]()) { $0 += $1 }
      }
      #expect(steps.sorted() == Array(1...Schema.version))
      for store in stores {
        #expect(try await store.schemaVersion() == Schema.version)
        await store.close()
      }
    }
  }

  @Test func `A database of a newer build is left alone`() async throws {
    try await ScratchDatabase.use { database in
      let store = await PostgresStore(url: database.url, maximum: 1) { _ in }
      _ = try await store.migrate()
      let pool = await PostgresPool(database.url, maximum: 1, applicationName: "tests", limits: .patient) { _ in }
      try await pool.script("insert into push_schema (number) values (\(Schema.version + 1))")
      #expect(try await store.schemaVersion() == Schema.version + 1)
      await #expect(throws: StoreFailure.self) { _ = try await store.migrate() }
      #expect(Schema.mismatch(found: Schema.version + 1) != nil)
      await pool.close()
      await store.close()
    }
  }

  @Test func `A newer schema that serves this build is as good as its own`() async throws {
    try await ScratchDatabase.use { database in
      let store = await PostgresStore(url: database.url, maximum: 1) { _ in }
      _ = try await store.migrate()
      let pool = await PostgresPool(database.url, maximum: 1, applicationName: "tests") { _ in }
      try await pool.script(
        "insert into push_schema (number, serves) values (\(Schema.version + 1), \(Schema.version))")
      #expect(try await store.schemaVersion() == Schema.version)
      #expect(try await store.migrate().isEmpty)
      try await pool.script("update push_schema set serves = \(Schema.version + 1) where number > \(Schema.version)")
      #expect(try await store.schemaVersion() == Schema.version + 1)
      await #expect(throws: StoreFailure.self) { _ = try await store.migrate() }
      await pool.close()
      await store.close()
    }
  }

  @Test func `A database from before steps said whom they serve is read and migrated`() async throws {
    try await ScratchDatabase.use { database in
      let store = await PostgresStore(url: database.url, maximum: 1) { _ in }
      _ = try await store.migrate()
      let pool = await PostgresPool(database.url, maximum: 1, applicationName: "tests") { _ in }
      try await pool.script("alter table push_schema drop column serves")
      let fresh = await PostgresStore(url: database.url, maximum: 1) { _ in }
      #expect(try await fresh.schemaVersion() == Schema.version)
      #expect(try await fresh.migrate().isEmpty)
      await fresh.close()
      await pool.close()
      await store.close()
    }
  }

  @Test(arguments: [0, 1, 99]) func `A mismatch of versions says what to do`(found: Int) throws {
    if found == Schema.version {
      #expect(Schema.mismatch(found: found) == nil)
    } else {
      let text = try #require(Schema.mismatch(found: found))
      #expect(text.contains("\(found)") && text.contains("\(Schema.version)"))
    }
  }

  @Test func `A database that cannot be reached is unavailable`() async throws {
    let url = try PostgresUrl("postgresql://postgres@127.0.0.1:1/none")
    let store = await PostgresStore(url: url, maximum: 1) { _ in }
    let failure = await #expect(throws: StoreFailure.self) { try await store.ping() }
    guard case .unavailable = failure else { throw Unexpected("not unavailable") }
    await store.close()
  }

  /// A pooler's connections keep what they began with.
  @Test(.enabled(if: !ScratchDatabase.isPooled))
  func `A server that is read-only is answered by, and told of`() async throws {
    try await ScratchDatabase.use { database in
      let store = await PostgresStore(url: database.url, maximum: 1) { _ in }
      _ = try await store.migrate()
      try await store.ping()
      await store.close()
      try await ScratchDatabase.administer("alter database \(database.name) set default_transaction_read_only = on")
      let fresh = await PostgresStore(url: database.url, maximum: 1) { _ in }
      let failure = await #expect(throws: StoreFailure.self) { try await fresh.ping() }
      #expect(failure?.whyUnwritable == "the database is read-only: nothing can be written")
      #expect(try await fresh.schemaVersion() == Schema.version)
      await fresh.close()
    }
  }

  /// The server says the same where its disk is full; here a trigger says it.
  @Test func `A server without room is told of until something can be written again`() async throws {
    try await ScratchDatabase.use { database in
      let told = Locked<[String]>([])
      let store = await PostgresStore(url: database.url, maximum: 1) { line in told.withLock { $0.append(line) } }
      _ = try await store.migrate()
      let pool = await PostgresPool(database.url, maximum: 1, applicationName: "tests") { _ in }
      try await pool.script(
        """
        create function no_room() returns trigger language plpgsql as
          $$ begin raise exception 'no room' using errcode = '53100'; end $$;
        create trigger no_room before insert on push_challenges execute function no_room();
        """)
      try await store.ping()
      let fingerprint = try StoreUnderTest.fingerprint("host")
      await #expect(throws: StoreFailure.unavailable(StoreFailure.diskFull)) {
        try await store.saveChallenge(id: "c", fingerprint: fingerprint, proofDigest: [1])
      }
      for _ in 0..<2 {
        let failure = await #expect(throws: StoreFailure.self) { try await store.ping() }
        #expect(failure?.whyUnwritable == "the disk is full: nothing can be written")
      }
      try await pool.script("drop trigger no_room on push_challenges")
      try await store.ping()
      #expect(told.withLock { $0 } == [StoreFailure.isFullNow, StoreFailure.hasRoomAgain])
      let left = try await pool.run(PostgresStatement("select count(*) from push_challenges"))
      #expect(try left.int8(0, 0) == 0)
      await pool.close()
      await store.close()
    }
  }

  private static func host() throws -> Stores.Host {
    Host(number: 1, fingerprint: try StoreUnderTest.fingerprint("host"))
  }
}
