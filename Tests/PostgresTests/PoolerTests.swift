import Foundation
import Glibc
import Loop
import Postgres
import Support
import Testing

/// A transaction pooler in front of the scratch server.
@Suite("Behind a pooler in transaction mode", .timeLimit(.minutes(1)))
struct PoolerTests {
  @Test("With prepared=off many callers share few server connections, and every statement is answered")
  func unnamed() async throws {
    try await withPooler { text, database in
      let pool = await PostgresPool(
        try PostgresUrl(text + "?prepared=off"), maximum: 8, applicationName: database.name, limits: .patient
      ) { _ in }
      for _ in 0..<5 {
        let outcome = await pool.runAll(
          PostgresStatement("select $1, pg_sleep(0.001)"), (0..<250).map { [.int8($0)] })
        let answers = try outcome.map { try $0.rows().int8(0, 0) }
        #expect(answers == Array(0..<250))
      }
      let outcome = await pool.runAll(PostgresStatement("select 6 / $1"), (0..<90).map { [.int8($0 % 3)] })
      #expect(outcome.count { $0.failure?.sqlState == "22012" } == 30)
      #expect(outcome.count { $0.failure == nil } == 60)
      try await pool.script("create table p (n bigint); insert into p values (1)")
      #expect(try await pool.run(PostgresStatement("select n from p")).int8(0, 0) == 1)
      await pool.close()
    }
  }

  @Test("A listener says once that wake-ups may not come, and not on a direct connection")
  func listener() async throws {
    try await withPooler { text, database in
      let met = Met()
      for (url, name) in [(text, "pooled"), (database.text, "direct")] {
        let listener = await PostgresListener(
          try PostgresUrl(url), channel: "c", applicationName: "\(database.name)-\(name)",
          onNotify: { _ in }, onListening: { met.note("\(name) listens") },
          onPooler: { met.note("\(name) meets a pooler") })
        await listener.start()
        await met.wait("\(name) listens")
        await listener.stop()
        await listener.start()
        await met.wait("\(name) listens")
        await listener.stop()
      }
      #expect(await met.words.filter { $0.hasSuffix("pooler") } == ["pooled meets a pooler"])
    }
  }

  @Test("A deadline passes through the pooler, and the pool goes on")
  func deadline() async throws {
    var limits = PostgresLimits.patient
    limits.statementMilliseconds = 400
    try await withPooler { text, database in
      let pool = await PostgresPool(
        try PostgresUrl(text + "?prepared=off"), maximum: 2, applicationName: database.name, limits: limits
      ) { _ in }
      let (_, failure) = await timed { _ = try await pool.run(PostgresStatement("select pg_sleep(60)")) }
      #expect(failure == .timedOut)
      #expect(try await pool.runUntilItSucceeds(PostgresStatement("select 1::int4")).int4(0, 0) == 1)
      await pool.close()
    }
  }

  private func withPooler(_ body: (String, ScratchDatabase) async throws -> Void) async throws {
    guard
      let binary = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].first(where: {
        FileManager.default.isExecutableFile(atPath: $0)
      })
    else {
      Issue.record("pgbouncer is not installed: apt-get install pgbouncer")
      return
    }
    try await ScratchDatabase.use { database in
      let server = try #require(URL(string: database.text))
      // It listens in a folder of its own, since a port that is free now may be another's in a moment.
      let folder = "/tmp/push-test-pooler-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      chmod(folder, 0o777)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      try "\"postgres\" \"\"\n".write(toFile: folder + "/users", atomically: false, encoding: .utf8)
      try """
      [databases]
      * = host=\(server.host ?? "127.0.0.1") port=\(server.port ?? 5432)
      [pgbouncer]
      listen_addr =
      listen_port = 6432
      unix_socket_dir = \(folder)
      unix_socket_mode = 0777
      auth_type = trust
      auth_file = \(folder)/users
      pool_mode = transaction
      default_pool_size = 3
      """.write(toFile: folder + "/pgbouncer.ini", atomically: false, encoding: .utf8)
      let pooler = Process()
      pooler.executableURL = URL(fileURLWithPath: binary)
      // It refuses to stay the superuser.
      pooler.arguments = (geteuid() == 0 ? ["-u", "postgres"] : []) + [folder + "/pgbouncer.ini"]
      let output = Pipe()
      pooler.standardError = output
      pooler.standardOutput = FileHandle.nullDevice
      try pooler.run()
      defer {
        // A gentler signal is blocked in what these threads spawn, and pgbouncer leaves it so.
        kill(pooler.processIdentifier, SIGKILL)
        pooler.waitUntilExit()
      }
      let isUp = await BlockingCalls(name: "pooler").run {
        var text = ""
        while !text.contains("process up") {
          let bytes = output.fileHandleForReading.availableData
          if bytes.isEmpty { return false }
          text += String(decoding: bytes, as: UTF8.self)
        }
        return true
      }
      try #require(isUp)
      let socket = folder.replacing("/", with: "%2F")
      try await body("postgresql://postgres@\(socket):6432/\(database.name)", database)
    }
  }
}

/// What a listener told, in its order; each word is waited for once.
@LoopActor
private final class Met {
  private(set) var words: [String] = []
  private var seen = 0
  private var waiter: (word: String, continuation: CheckedContinuation<Void, Never>)?

  func note(_ word: String) {
    words.append(word)
    guard let waiter, waiter.word == word else { return }
    self.waiter = nil
    seen = words.count
    waiter.continuation.resume()
  }

  func wait(_ word: String) async {
    await withCheckedContinuation { continuation in
      if let place = words[seen...].firstIndex(of: word) {
        seen = place + 1
        continuation.resume()
      } else {
        waiter = (word, continuation)
      }
    }
  }
}
