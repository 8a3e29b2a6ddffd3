import Contract
import Postgres
import Support
import Testing

@testable import Stores

/// What a group of sends touches, in the database's own count of pages.
@Suite struct AdmissionCostTests {
  private static let admitting = PostgresStatement(
    """
    explain (analyze, buffers) select push_admit_v3($1::int8[], $2::int2[], $3::int8[], $4::uuid[], $5::uuid[], $6::uuid[],
      $7::bytea[], $8::bool[], $9::int8[], $10::int4[], $11::text[], $12::int4[], $13::int4, $14::int8, $15::int8)
    """)

  // Its subject is what one session has planned, and a pooler in transaction mode gives each statement another.
  @Test(.enabled(if: !ScratchDatabase.isPooled))
  func `Beside thousands of events, its hosts' own among them, a group of sends touches few pages more`() async throws {
    try await ScratchDatabase.use { database in
      try await StoreKind.postgres.usePostgres(database, HandClock()) { under in
        // As an api's, this session makes its plans while the tables are empty.
        let session = await PostgresPool(database.url, maximum: 1, applicationName: "api", limits: .patient) { _ in }
        var few: [(host: Host, phone: String)] = []
        for number in 0..<20 {
          let host = try await under.host("few \(number)")
          few.append((host, try await under.phone(host)))
        }
        func admit(_ seq: Int64) async throws -> Int {
          let sends = few.map { Event.alert(seq, id: "n \(seq)").admission($0.host, [$0.phone]) }
          return try await session.pages(Self.admitting, PostgresStore.values(of: sends))
        }
        for seq in 0..<8 as Range<Int64> { _ = try await admit(seq) }
        let alone = try await admit(8)

        for number in 0..<20 {
          let host = try await under.host("many \(number)")
          let phones = try await under.phones(host, 20)
          _ = try await under.send(
            (0..<200).map { .alert($0, id: "n \($0)") } + (0..<200).map { .dismissal($0, id: "n \($0)") }, host,
            [phones[number]])
        }
        // Their own past costs them nothing either, and has no place in the quota any more.
        for (host, phone) in few {
          _ = try await under.send((1_000..<1_200).map { .alert($0, id: "n \($0)") }, host, [phone])
        }
        try await under.advance(20 * .minute)
        let beside = try await admit(9)
        #expect(beside <= alone * 3, "\(alone) pages before, \(beside) beside thousands of rows")
        await session.close()
      }
    }
  }
}
