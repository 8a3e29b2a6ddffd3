import Contract
import Foundation
import SQLite
import Testing

@testable import Stores

/// Changes that are committed together.
@Suite struct SQLiteWriteTests {
  @Test func `What waits goes with the next, in its order`() async throws {
    try await use { store in
      let early = [Int64(1), 2].map { number in
        SQLiteWrite { file in
          try file.run(
            "insert into push_hosts (host_no, fingerprint) values (?, ?)", [.integer(number), .text("\(number)")])
          return try Self.hosts(file)
        }
      }
      for write in early { store.writes.add(write) }
      let hosts = try await store.write { file in try Self.hosts(file) }
      #expect(hosts == 2)
      #expect(try early.map { try $0.outcome?.get() } == [1, 2])
    }
  }

  @Test func `One that fails leaves nothing behind and does not fail its neighbours`() async throws {
    try await use { store in
      let broken = SQLiteWrite { file in
        try file.run("insert into push_hosts (host_no, fingerprint) values (1, 'a')")
        try file.run("insert into push_hosts (host_no, fingerprint) values (2, 'a')")
      }
      let sound = SQLiteWrite { file in
        _ = try file.run("insert into push_hosts (host_no, fingerprint) values (3, 'b')")
      }
      store.writes.add(broken)
      store.writes.add(sound)
      let hosts = try await store.write { file in try Self.hosts(file) }
      #expect(hosts == 1)
      #expect(throws: StoreFailure.refused("a constraint was broken")) { try broken.outcome?.get() }
      #expect(throws: Never.self) { try #require(sound.outcome).get() }
    }
  }

  private static func hosts(_ file: SQLiteFile) throws -> Int64 {
    try #require(try file.run("select count(*) from push_hosts").first).integer(0)
  }

  private func use(_ body: (SQLiteStore) async throws -> Void) async throws {
    try await StoreKind.sqlite.use { under in try await body(try #require(under.store as? SQLiteStore)) }
  }
}
