import Glibc
import Loop
import Postgres
import Support
import Testing

@Suite("Outages", .timeLimit(.minutes(2)))
struct OutageTests {
  static let one = PostgresStatement("select 1::int4")

  @Test("A server that refuses connections fails every caller at once")
  func refused() async throws {
    let lines = LogLines()
    // Whoever waited for one of these would never come back.
    var limits = PostgresLimits.patient
    limits.statementMilliseconds = 3_600_000
    limits.connectMilliseconds = 3_600_000
    // Nobody may listen on port 1.
    let pool = await PostgresPool(
      try PostgresUrl("postgresql://u:hunter2@127.0.0.1:1/d"), maximum: 2, applicationName: "t", limits: limits
    ) { lines.append($0) }
    for _ in 0..<20 {
      let (_, failure) = await timed { _ = try await pool.run(Self.one) }
      guard case .unreachable(let reason) = failure else {
        Issue.record("not unreachable: \(String(describing: failure))")
        return
      }
      #expect(!reason.contains("hunter2"))
    }
    #expect(lines.all.count == 1)
    await pool.close()
  }

  @Test("A server that never answers holds callers up to the connection deadline, and only the first of them")
  func blackHole() async throws {
    // The kernel takes the connection; nobody reads it.
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { Glibc.close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        #expect(bind(listener, $0, length) == 0)
        #expect(listen(listener, 16) == 0)
        getsockname(listener, $0, &length)
      }
      return UInt16(bigEndian: address.pointee.sin_port)
    }
    var limits = PostgresLimits.patient
    limits.connectMilliseconds = 400
    let pool = await PostgresPool(
      try PostgresUrl("host=127.0.0.1 port=\(port) sslmode=disable"), maximum: 1, applicationName: "t", limits: limits
    ) { _ in }
    let (first, failure) = await timed { _ = try await pool.run(Self.one) }
    #expect(first >= 400)
    #expect(failure?.isTransient == true)
    // The next is told what the first has found out before the loop does anything else.
    let answered = Occurrences()
    let second = await EventLoop.shared.start {
      let (_, failure) = await timed { _ = try await pool.run(Self.one) }
      answered.add()
      return failure
    }
    for _ in 0..<4 { await EventLoop.shared.start {}.value }
    #expect(await answered.count == 1)
    #expect(await second.value?.isTransient == true)
    await pool.close()
  }

  @Test("A name that nobody knows is unreachable, and says so")
  func unknownHost() async throws {
    let pool = await PostgresPool(
      try PostgresUrl("postgresql://u@push-test.invalid/d"), maximum: 1, applicationName: "t"
    ) { _ in }
    let (_, failure) = await timed { _ = try await pool.run(Self.one) }
    guard case .unreachable = failure else {
      Issue.record("not unreachable: \(String(describing: failure))")
      return
    }
    await pool.close()
  }

  @Test("Names, several hosts and socket folders lead to the server")
  func routes() async throws {
    let rows = try await ScratchDatabase.use { database in
      let pool = await PostgresPool(database.url, maximum: 1, applicationName: "t", limits: .patient) { _ in }
      let rows = try await pool.run(
        PostgresStatement("select current_setting('unix_socket_directories'), current_setting('port')"))
      await pool.close()
      return rows
    }
    let (folder, port) = (try rows.text(0, 0), try rows.text(0, 1))
    for text in [
      "postgresql://postgres@localhost:\(port)/postgres",
      "postgresql://postgres@127.0.0.1:1,localhost:\(port)/postgres",
      "host=\(folder) port=\(port) user=postgres dbname=postgres",
      "host=/nowhere,127.0.0.1 port=1,\(port) user=postgres",
    ] {
      let pool = await PostgresPool(try PostgresUrl(text), maximum: 1, applicationName: "t", limits: .patient) { _ in }
      #expect(try await pool.run(Self.one).int4(0, 0) == 1)
      await pool.close()
    }
  }

  @Test("Connections that the server ends while idle are replaced unseen")
  func terminated() async throws {
    try await withPool(maximum: 1) { pool, database in
      _ = try await pool.run(Self.one)
      for _ in 0..<10 {
        #expect(await pool.openConnections == 1)
        try await ScratchDatabase.administer(
          "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = '\(database.name)'")
        while await pool.openConnections > 0 { await Task.yield() }
        #expect(try await pool.run(Self.one).int4(0, 0) == 1)
      }
    }
  }

  @Test("A server that stops and starts is found again, and meanwhile nobody waits")
  func restart() async throws {
    try await OwnServer.use { server in
      let lines = LogLines()
      var limits = PostgresLimits.patient
      limits.statementMilliseconds = 60_000
      let pool = await PostgresPool(try PostgresUrl(server.url), maximum: 2, applicationName: "t", limits: limits) {
        lines.append($0)
      }
      for _ in 0..<2 {
        #expect(try await pool.runUntilItSucceeds(Self.one).int4(0, 0) == 1)
        let inFlight = Task { await timed { _ = try await pool.run(PostgresStatement("select pg_sleep(60)")) } }
        while await pool.busyConnections == 0 { await Task.yield() }
        try await server.stop()
        let (_, failure) = await inFlight.value
        #expect(failure?.isTransient == true)
        for _ in 0..<10 {
          // A wait would be one of a minute, and end as timed out.
          let (_, failure) = await timed { _ = try await pool.run(Self.one) }
          #expect(failure?.isTransient == true && failure != .timedOut)
        }
        try await server.start()
        #expect(try await pool.runUntilItSucceeds(Self.one).int4(0, 0) == 1)
      }
      #expect(lines.all.count { $0.hasPrefix("the database is unreachable") } == 2)
      #expect(lines.all.count { $0 == "the database is reachable again" } == 2)
      await pool.close()
    }
  }
}
