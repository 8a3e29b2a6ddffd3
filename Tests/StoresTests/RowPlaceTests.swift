import Contract
import Postgres
import Support
import Testing

@testable import Stores

/// Where a row's next version goes: beside the one before, or else every index of its table gets a new entry as well.
@Suite struct RowPlaceTests {
  private static let stayedBatches = PostgresStatement(
    """
    select count(*) from batches join push_delivery_batches r using (turn) where page = (r.ctid::text::point)[0]
    """)
  private static let stayedRecipients = PostgresStatement(
    """
    select count(*) from recipients join push_event_recipients r using (host_no, number, device_no)
     where page = (r.ctid::text::point)[0]
    """)

  @Test func `What is claimed and what ends stays on its page`() async throws {
    try await ScratchDatabase.use { database in
      try await StoreKind.postgres.usePostgres(database, HandClock()) { under in
        let pool = await PostgresPool(database.url, maximum: 1, applicationName: "places", limits: .patient) { _ in }
        for number in 0..<20 {
          let host = try await under.host("\(number)")
          let phones = try await under.phones(host, 2)
          _ = try await under.send((0..<25).map { .alert($0) }, host, phones)
        }
        try await pool.script(
          """
          create table batches as select turn, (ctid::text::point)[0] page from push_delivery_batches;
          create table recipients as select host_no, number, device_no, (ctid::text::point)[0] page from push_event_recipients
          """)
        var claimed: [[ClaimedDelivery]] = []
        while case let claim = try await under.claim(limit: 40), claim.looked > 0 { claimed.append(claim.deliveries) }
        #expect(claimed.reduce(0) { $0 + $1.count } == 1_000)
        let batches = try await pool.run(Self.stayedBatches).int8(0, 0)
        #expect(batches == 500, "\(batches) of 500 batches")

        // With a name as long as Apple gives each.
        let name = String(repeating: "n", count: 36)
        for deliveries in claimed {
          let settled = try await under.settle(deliveries.map { $0.ends(.sent, detail: name) })
          try #require(settled == deliveries.map { _ in .ended })
        }
        let recipients = try await pool.run(Self.stayedRecipients).int8(0, 0)
        #expect(recipients >= 900, "\(recipients) of 1000 recipients")
        await pool.close()
      }
    }
  }
}
