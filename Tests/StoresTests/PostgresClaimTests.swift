import Contract
import Postgres
import Support
import Testing

@testable import Stores

/// What only a database with many sessions can get wrong.
@Suite struct PostgresClaimTests {
  // The gate is a row, not a session's lock: behind a pooler in transaction mode nobody has a session of his own.
  private static let open = PostgresStatement("insert into gate values (true)")
  private static let free = PostgresStatement(
    """
    select turn from push_delivery_batches
    where turn = (select min(turn) from push_delivery_batches) for update skip locked
    """)

  @Test func `A host's younger deliveries are not taken while another session looks at its oldest`() async throws {
    try await ScratchDatabase.use { database in
      try await StoreKind.postgres.usePostgres(database, HandClock()) { under in
        let host = try await under.host()
        let other = try await under.host("other")
        let id = try await under.phone(host)
        let foreign = try await under.phone(other)
        _ = try await under.send((0..<3).map { .alert($0) }, host, [id])
        try await under.send(.alert(9), other, [foreign])

        // A session locks the oldest row, as a claim does, and keeps it until the gate opens.
        let gate = await PostgresPool(database.url, maximum: 1, applicationName: "gate", limits: .patient) { _ in }
        let session = await PostgresPool(database.url, maximum: 1, applicationName: "session", limits: .patient) { _ in
        }
        try await gate.script("create table gate (is_open boolean)")
        async let looked: Void = session.script(
          """
          begin;
          select 1 from push_delivery_batches order by turn limit 1 for update;
          do $$ begin
            while not exists (select from gate) loop perform pg_sleep(0.002); end loop;
          end $$;
          commit;
          """)
        while try await gate.run(Self.free).count == 1 { await Task.yield() }

        #expect(try await under.claim(owner: 1).deliveries.map(\.registrationId) == [foreign])
        _ = try await gate.run(Self.open)
        try await looked
        #expect(
          try await under.claim(owner: 2).deliveries.map(\.text) == (0..<3).map { Event.alert($0).payload })
        await gate.close()
        await session.close()
      }
    }
  }
}
