import Loop
import Postgres
import Support
import Testing

@Suite("Pool", .timeLimit(.minutes(1)))
struct PoolTests {
  static let echo = PostgresStatement("select $1")
  static let nap = PostgresStatement("select $1, pg_sleep(0.002)")

  @Test("Each of many callers gets its own answer, whatever shares a connection", arguments: [1, 2, 5])
  func manyCallers(maximum: Int) async throws {
    try await withPool(maximum: maximum) { pool, _ in
      let outcome = await pool.runAll(Self.echo, (0..<250).map { [.int8($0)] })
      let answers = try outcome.map { try $0.rows().int8(0, 0) }
      #expect(answers == Array(0..<250))
    }
  }

  @Test("One connection carries statements out in the order of the calls")
  func order() async throws {
    try await withPool(maximum: 1) { pool, _ in
      try await pool.script("create table seen (place bigserial, n bigint)")
      let outcome = await pool.runAll(
        PostgresStatement("insert into seen (n) values ($1)"), (0..<100).map { [.int8($0)] })
      #expect(outcome.allSatisfy { if case .success = $0 { true } else { false } })
      let rows = try await pool.run(PostgresStatement("select array_agg(n order by place) from seen"))
      #expect(try rows.int8Array(0, 0) == Array(0..<100))
    }
  }

  @Test("An error spoils only its own statement, and each statement is a transaction of its own")
  func isolation() async throws {
    try await withPool(maximum: 1) { pool, _ in
      try await pool.script("create table kept (n bigint)")
      let outcome = await pool.runAll(
        PostgresStatement("insert into kept select $1 / $2 returning n"), (0..<60).map { [.int8(60), .int8($0 % 3)] })
      for (place, result) in outcome.enumerated() {
        if place % 3 == 0 {
          #expect { try result.rows() } throws: { ($0 as? PostgresFailure)?.sqlState == "22012" }
        } else {
          let value = try result.rows().int8(0, 0)
          #expect(value == 60 / Int64(place % 3))
        }
      }
      #expect(try await pool.run(PostgresStatement("select count(*) from kept")).int8(0, 0) == 40)
    }
  }

  @Test("A statement that cannot be prepared fails by itself, and works once the table is there")
  func failedPreparation() async throws {
    let statement = PostgresStatement("select n from later where n = $1")
    try await withPool(maximum: 1) { pool, _ in
      for result in await pool.runAll(statement, [[.int8(1)], [.int8(1)], [.int8(1)]]) {
        #expect { try result.rows() } throws: { ($0 as? PostgresFailure)?.sqlState == "42P01" }
      }
      try await pool.script("create table later (n bigint); insert into later values (1)")
      #expect(try await pool.run(statement, [.int8(1)]).int8(0, 0) == 1)
    }
  }

  @Test("A changed column and forgotten names heal unseen")
  func staleNames() async throws {
    let statement = PostgresStatement("select n from t")
    try await withPool(maximum: 1) { pool, _ in
      try await pool.script("create table t (n bigint); insert into t values (1)")
      #expect(try await pool.run(statement).int8(0, 0) == 1)
      try await pool.script("alter table t alter n type text")
      #expect(try await pool.run(statement).text(0, 0) == "1")
      _ = try await pool.run(PostgresStatement("deallocate all"))
      let outcome = await pool.runAll(statement, [[], [], []])
      let answers = try outcome.map { try $0.rows().text(0, 0) }
      #expect(answers == ["1", "1", "1"])
    }
  }

  @Test("No more connections than the maximum, and one is enough for one caller")
  func cap() async throws {
    try await withPool(maximum: 3) { pool, database in
      for n in 0..<5 { _ = try await pool.run(Self.echo, [.int8(Int64(n))]) }
      #expect(await pool.openConnections == 1)
      let outcome = await pool.runAll(Self.nap, (0..<200).map { [.int8($0)] })
      #expect(outcome.allSatisfy { if case .success = $0 { true } else { false } })
      #expect(await pool.openConnections == 3)
      #expect(await pool.busyConnections == 0)
      #expect(await pool.waiting == 0)
      let seen = try await pool.run(
        PostgresStatement("select count(*) from pg_stat_activity where application_name = $1"), [.text(database.name)])
      #expect(try seen.int8(0, 0) == 3)
    }
  }

  @Test("Beyond connections, depth and queue a statement is refused at once, and those taken are carried out (F56)")
  func overload() async throws {
    var limits = PostgresLimits.patient
    limits.pipelineDepth = 2
    limits.queue = 4
    try await withPool(maximum: 1, limits: limits) { pool, _ in
      _ = try await pool.run(Self.echo, [.int8(0)])
      let outcome = await pool.runAll(Self.nap, (0..<500).map { [.int8($0)] })
      let taken = outcome.count { if case .success = $0 { true } else { false } }
      let refused = outcome.count { $0.failure == .overloaded }
      #expect(taken + refused == 500)
      #expect(taken >= 6 && refused > 0)
      #expect(try await pool.run(Self.echo, [.int8(1)]).int8(0, 0) == 1)
    }
  }

  @Test("A statement past its deadline is called off, and the pool goes on (on a new connection)")
  func deadline() async throws {
    var limits = PostgresLimits.patient
    limits.statementMilliseconds = 1_000
    try await withPool(maximum: 1) { observer, database in
      let pool = await PostgresPool(database.url, maximum: 1, applicationName: "t", limits: limits) { _ in }
      let server = PostgresStatement("select pg_backend_pid()")
      let first = try await pool.runUntilItSucceeds(server).int4(0, 0)
      let (milliseconds, failure) = await timed { _ = try await pool.run(PostgresStatement("select pg_sleep(60)")) }
      #expect(failure == .timedOut)
      #expect(milliseconds >= 1_000)
      #expect(try await pool.runUntilItSucceeds(server).int4(0, 0) != first)
      let running = PostgresStatement("select count(*) from pg_stat_activity where pid = $1 and state = 'active'")
      #expect(try await observer.run(running, [.int4(first)]).int8(0, 0) == 0)
      await pool.close()
    }
  }

  @Test("What waits in the queue has its deadline too, and is not sent once that is over")
  func queueDeadline() async throws {
    var limits = PostgresLimits.patient
    limits.statementMilliseconds = 300
    limits.pipelineDepth = 1
    try await withPool(maximum: 1) { observer, database in
      try await observer.script("create sequence runs")
      let pool = await PostgresPool(database.url, maximum: 1, applicationName: "t", limits: limits) { _ in }
      _ = try await pool.runUntilItSucceeds(PostgresStatement("select 1"))
      let outcome = await pool.runAll(
        PostgresStatement("select nextval('runs'), pg_sleep($1::int4)"), [[.int4(60)], [.int4(60)], [.int4(60)]])
      #expect(outcome.allSatisfy { $0.failure == .timedOut })
      await pool.close()
      #expect(try await observer.run(PostgresStatement("select last_value from runs")).int8(0, 0) == 1)
    }
  }

  @Test("Closing lets what is in flight finish, and refuses the rest")
  func close() async throws {
    var limits = PostgresLimits.patient
    limits.statementMilliseconds = 60_000
    try await withPool(maximum: 1) { observer, database in
      let pool = await PostgresPool(database.url, maximum: 1, applicationName: "t", limits: limits) { _ in }
      _ = try await observer.run(PostgresStatement("select pg_advisory_lock(1)"))
      let slow = Task { try await pool.run(PostgresStatement("select 5::bigint from pg_advisory_lock(1)")) }
      while await pool.busyConnections == 0 { await Task.yield() }
      let closing = Task { await pool.close() }
      _ = try await observer.run(PostgresStatement("select pg_advisory_unlock(1)"))
      #expect(try await slow.value.int8(0, 0) == 5)
      await closing.value
      #expect(await pool.openConnections == 0)
      await #expect(throws: PostgresFailure.closed) { try await pool.run(Self.echo, [.int8(1)]) }
      await #expect(throws: PostgresFailure.closed) { try await pool.script("select 1") }
    }
  }

  @Test("A script runs whole or not at all")
  func script() async throws {
    try await withPool { pool, _ in
      try await pool.script(
        "create table s (n bigint);" + (0..<3_000).map { "insert into s values (\($0));" }.joined(separator: "\n"))
      #expect(try await pool.run(PostgresStatement("select count(*) from s")).int8(0, 0) == 3_000)
      await #expect {
        try await pool.script("insert into s values (1); select 1/0; insert into s values (2)")
      } throws: {
        ($0 as? PostgresFailure)?.sqlState == "22012"
      }
      #expect(try await pool.run(PostgresStatement("select count(*) from s")).int8(0, 0) == 3_000)
      try await pool.script("")
    }
  }

  @Test("Large parameters and results pass, several at a time")
  func large() async throws {
    try await withPool(maximum: 1) { pool, _ in
      let big = [UInt8](repeating: 7, count: 3_000_000)
      let outcome = await pool.runAll(Self.echo, (0..<6).map { _ in [.bytes(big)] })
      for result in outcome {
        let value = try result.rows().bytes(0, 0)
        #expect(value == big)
      }
    }
  }

  @Test("The server knows each connection by name, and keeps the deadline too")
  func settings() async throws {
    try await withPool(limits: PostgresLimits()) { pool, database in
      let rows = try await pool.run(
        PostgresStatement("select current_setting('application_name'), current_setting('statement_timeout')"))
      #expect(try rows.text(0, 0) == database.name)
      #expect(try rows.text(0, 1) == "5s")
    }
  }
}
