import Contract
import Postgres
import Support
import Testing

@testable import Stores

/// A build of schema 1 may still be at work while and after the schema is brought to 2.
@Suite struct RecordSchemaTests {
  @Test func `The functions of the build before go on working, and what they end is told as far as it is known`()
    async throws
  {
    try await ScratchDatabase.use { database in
      try await StoreKind.postgres.usePostgres(database, HandClock()) { under in
        let host = try await under.host()
        let ids = try await under.phones(host, 4)
        let pool = await PostgresPool(database.url, maximum: 1, applicationName: "the build before") { _ in }
        for seq in Int64(1)...4 { try await under.send(.alert(seq), host, [ids[Int(seq) - 1]]) }
        // As that build claims, settles, releases and expires.
        let claim = PostgresStatement(
          "select turn, fence, device_no from push_claim_v1(3::int2, 9, 10, 30000, 0) where turn > 0")
        let rows = try await pool.run(claim, [])
        try #require(rows.count == 4)
        func settle(_ row: Int, _ outcome: Int16, _ detail: String?, _ wait: Int64) async throws -> [Int16] {
          try await pool.run(
            PostgresStatement(
              """
              select push_settle_v1(9, array[3::int2], $1, $2, $3, $4, $5, $6, array[1::int2], array[null]::text[],
                '{}', '{}', '{}', '{}', '{}')
              """),
            [
              .int8s([try rows.int8(row, 0)]), .int4s([try rows.int4(row, 1)]), .int8s([try rows.int8(row, 2)]),
              .int2s([outcome]), .texts([detail]), .int8s([wait]),
            ]
          ).int2Array(0, 0)
        }
        #expect(try await settle(0, 1, "id", 0) == [1])
        #expect(try await settle(1, 3, "reason", 0) == [1])
        #expect(try await settle(2, 0, nil, 5_000) == [2])
        let release = PostgresStatement("select push_release_v1(9, array[3::int2], $1, $2)")
        _ = try await pool.run(release, [.int8s([try rows.int8(3, 0)]), .int4s([try rows.int4(3, 1)])])
        var states: [DeliveryRecord.State] = []
        for seq in Int64(1)...4 { states += try await under.records(.alert(seq), host).map(\.state) }
        #expect(states == [.sent, .failed, .waiting, .pending])
        let sent = try #require(try await under.records(.alert(1), host).first)
        #expect(sent.attempts == 1)
        #expect(sent.providerId == "id")
        #expect(sent.route == .fcm)

        try await under.advance(300_000)
        _ = try await pool.run(PostgresStatement("select * from push_expire_v1(10)"), [])
        #expect(try await under.records(.alert(3), host).map(\.state) == [.expired])
        #expect(try await under.records(.alert(3), host).map(\.registrationId) == [ids[2]])
        await pool.close()
      }
    }
  }
}
