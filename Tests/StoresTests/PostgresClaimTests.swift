import Contract
import Postgres
import Support
import Testing

@testable import Stores

/// What only a database with many sessions can get wrong.
@Suite struct PostgresClaimTests {
  private static let take = PostgresStatement("select pg_advisory_lock(42)")
  private static let give = PostgresStatement("select pg_advisory_unlock(42)")
  private static let waiting = PostgresStatement(
    """
    select count(*) from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())
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
        _ = try await gate.run(Self.take)
        async let looked: Void = session.script(
          """
          begin;
          select 1 from push_delivery_batches order by turn limit 1 for update;
          select pg_advisory_xact_lock(42);
          commit;
          """)
        while try await gate.run(Self.waiting).int8(0, 0) == 0 { await Task.yield() }

        #expect(try await under.claim(owner: 1).deliveries.map(\.registrationId) == [foreign])
        _ = try await gate.run(Self.give)
        try await looked
        #expect(
          try await under.claim(owner: 2).deliveries.map(\.text) == (0..<3).map { Event.alert($0).payload })
        await gate.close()
        await session.close()
      }
    }
  }
}
