import Contract
import Foundation
import Glibc
import Http
import Json
import Loop
import Operations
import SQLite
import Testing

@testable import Stores
@testable import api

/// A SQLite file that cannot grow: reads go on, and readiness says why nothing else does.
@Suite struct FullDiskTests {
  @Test func `A full disk makes the api not ready until there is room again, and is logged once each way`() async throws
  {
    try await Turnstile.shared.pass {
      try await Folder.use { folder in
        let log = folder + "/log"
        let descriptor = open(log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let door = try await Self.door(folder, Log(program: "api", descriptor: descriptor))
        let store = try #require(await door.store)
        let host = try await Self.host(store)
        #expect(await door.ready() == "200")

        try await store.setPageLimit(reached: true)
        // What fits into the pages that are there may still be written.
        #expect(await door.ready() == "200", "nobody has met it yet")
        for round in 0..<2 {
          try await Self.expectFull(store, host, "\(round)")
          #expect(await door.ready() == "503 database: the disk is full: nothing can be written")
        }
        try await store.setPageLimit(reached: false)
        #expect(await door.ready() == "200")
        #expect(try Self.changes(log) == ["is full", "has room again"])

        // A write that finds room tells it as well, whether anybody asks or not.
        try await store.setPageLimit(reached: true)
        try await Self.expectFull(store, host, "more")
        try await store.setPageLimit(reached: false)
        _ = try await store.register(host, deviceId: "last", route: .apnsProduction, token: "a", newId: "last")
        #expect(try Self.changes(log) == ["is full", "has room again", "is full", "has room again"])
        // Nothing is left of the looks.
        #expect(try await store.looks() == 0)
      }
    }
  }

  /// Registers phones until there is no room for another.
  private static func expectFull(_ store: SQLiteStore, _ host: Stores.Host, _ name: String) async throws {
    await #expect(throws: StoreFailure.unavailable(StoreFailure.diskFull)) {
      for phone in 0..<60 {
        _ = try await store.register(
          host, deviceId: "\(name) \(phone % 30)", route: .apnsProduction,
          token: String(repeating: "a", count: 4_096 * (phone / 30 + 1)), newId: "\(name).\(phone)")
      }
    }
  }

  /// What the log told of the disk, in order.
  private static func changes(_ log: String) throws -> [String] {
    String(decoding: try Data(contentsOf: URL(filePath: log)), as: UTF8.self).split(separator: "\n")
      .filter { $0.contains("the disk that holds the database") }
      .map { $0.contains("is full") ? "is full" : "has room again" }
  }

  @LoopActor
  private static func door(_ folder: String, _ log: Log) async throws -> Door {
    let configuration = try ApiConfiguration(
      environment: ["PORT": "0", "ORCA_PUSH_PUBLIC_URL": Gateway.origin, "ORCA_PUSH_DATA_DIR": folder])
    let database = try await Database(configuration.database, mode: .active, log: log)
    return Door(
      database: database,
      front: FrontDoor(configuration, database: database, metrics: ApiMetrics(Metrics()), log: log) { false })
  }

  private static func host(_ store: SQLiteStore) async throws -> Stores.Host {
    let fingerprint = try #require(HostFingerprint("AAAAAAAAAAAAAAAA"))
    try await store.saveChallenge(id: "c", fingerprint: fingerprint, proofDigest: [1])
    _ = try await store.openSession(challengeId: "c", tokenDigest: [2])
    guard case .active(let host, _) = try await store.sessions(tokenDigests: [[2]]).first else {
      throw Unexpected("no session")
    }
    return host
  }

  /// The api's own readiness, without a socket.
  @LoopActor
  private struct Door {
    let database: Database
    let front: FrontDoor

    var store: SQLiteStore? { database.store as? SQLiteStore }

    func ready() async -> String {
      let reply = await front.ready.reply()
      guard reply.status != 200 else { return "200" }
      let json = try? JsonReader.read(reply.body)
      return "\(reply.status) \(json?["failing"]?.string ?? ""): \(json?["detail"]?.string ?? "")"
    }
  }
}

extension SQLiteStore {
  /// SQLite counts a bound of pages that is reached for a full disk.
  fileprivate func setPageLimit(reached: Bool) throws {
    if reached { try file.run("pragma max_page_count = 1") } else { try file.run("pragma max_page_count = 1000000") }
  }

  /// Rows that are there for nothing but to look for room.
  fileprivate func looks() throws -> Int64 {
    try file.run("select count(*) from push_challenges where challenge_id = ''").first?.integer(0) ?? -1
  }
}
