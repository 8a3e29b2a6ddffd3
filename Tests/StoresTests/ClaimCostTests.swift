import Contract
import Postgres
import Support
import Testing

@testable import Stores

/// What the way of a push touches, in the database's own count of pages: exact where times are not (F55).
@Suite struct ClaimCostTests {
  private static let route = Route.fcm
  private static let claiming = PostgresStatement(
    "explain (analyze, buffers) select * from push_claim_v3($1::int2, 7, 20, 1000, 1000, '{}', 30000, $2::int8, $3::int8)"
  )
  private static let settling = PostgresStatement(
    """
    explain (analyze, buffers) select push_settle_v2($1::int8, $2::int2[], $3::int8[], $4::int4[], $5::int8[], $6::int2[],
      $7::text[], $8::int8[], $9::int2[], $10::int2[], $11::text[], $12::int8[], $13::int2[], $14::text[], $15::int8[],
      $16::int4[])
    """)

  // Its subject is what one session has planned, and a pooler in transaction mode gives each statement another.
  @Test(.enabled(if: !ScratchDatabase.isPooled))
  func `Claims and settlements touch as many pages beside thousands of deliveries as beside none`() async throws {
    try await ScratchDatabase.use { database in
      try await StoreKind.postgres.usePostgres(database, HandClock()) { under in
        // As a worker's, this session makes its plans while the queue is short.
        let session = await PostgresPool(database.url, maximum: 1, applicationName: "worker", limits: .patient) { _ in }
        let old = await PostgresPool(database.url, maximum: 1, applicationName: "old", limits: .patient) { _ in }
        try await old.script("alter table push_delivery_batches set (autovacuum_enabled = off)")
        let few = try await hosts(under, "few")
        let many = try await hosts(under, "many")
        _ = try await Self.pages(under, session, few)
        let alone = try await Self.pages(under, session, few)
        func expectAsMany(
          beside what: String, from marks: LowWater = .bottom, drained: Bool = true,
          _ more: () async throws -> Void = {}
        ) async throws {
          let pages = try await Self.pages(under, session, few, from: marks, drained: drained, beside: more)
          #expect(pages.claim <= alone.claim * 2, "\(alone.claim) pages before, \(pages.claim) beside \(what)")
          #expect(pages.settle <= alone.settle * 2, "\(alone.settle) pages before, \(pages.settle) beside \(what)")
        }

        // As long as somebody looks at the database as it was, nothing that was deleted is cleaned away.
        try await old.script("begin isolation level repeatable read; select count(*) from push_delivery_batches")
        for (hosts, whose) in [(many, "others"), (few, "their own")] {
          try await under.send(events: 200, hosts)
          #expect(try await under.deliver(limit: 1_000).count == 4_000)
          try await under.advance(15 * .second)
          let marks = try await under.claim(Self.route).lowWater
          try await expectAsMany(beside: "4,000 of \(whose) that were delivered", from: marks)
        }

        // A deep queue, whose rows come later.
        try await old.script("commit")
        try await under.advance(15 * .minute)
        _ = try await session.run(PostgresStatement("vacuum push_delivery_batches"))
        try await expectAsMany(beside: "4,000 that were cleaned away")
        try await under.advance(15 * .minute)
        try await expectAsMany(beside: "4,000 that wait", drained: false) { try await under.send(events: 200, many) }
        await session.close()
        await old.close()
      }
    }
  }

  /// Twenty hosts with a phone each.
  private func hosts(_ under: StoreUnderTest, _ name: String) async throws -> [(host: Host, phone: String)] {
    var hosts: [(host: Host, phone: String)] = []
    for number in 0..<20 {
      let host = try await under.host("\(name) \(number)")
      hosts.append((host, try await under.phone(host)))
    }
    return hosts
  }

  /// How many pages a claim of 20 batches touches, and a settlement of 20, in whatever they read and write; each of the
  /// hosts is sent two events for it. Everything is delivered in the end, if it is to be `drained`.
  private static func pages(
    _ under: StoreUnderTest, _ session: PostgresPool, _ hosts: [(host: Host, phone: String)],
    from marks: LowWater = .bottom,
    drained: Bool = true, beside more: () async throws -> Void = {}
  ) async throws -> (claim: Int, settle: Int) {
    try await under.send(events: 2, hosts)
    try await more()
    let claim = try await count(session, claiming, [.int2(route.rawValue), .int8(marks.floor), .int8(marks.next)])
    let held = try await under.claim(route, owner: 7, limit: 20).deliveries
    try #require(held.count == 20)
    let settlements = PostgresSettlements(held.map { $0.ends(.sent) })
    let settle = try await count(session, settling, [.int8(7)] + settlements.values)
    if drained {
      try await under.advance(31 * .second)
      try await under.deliver(limit: 1_000)
    }
    return (claim, settle)
  }

  private static func count(
    _ session: PostgresPool, _ statement: PostgresStatement, _ values: [PostgresValue]
  ) async throws -> Int {
    try await session.pages(statement, values)
  }
}

extension PostgresPool {
  /// How many pages a statement touches; it begins with `explain (analyze, buffers)`.
  func pages(_ statement: PostgresStatement, _ values: [PostgresValue]) async throws -> Int {
    let plan = try await run(statement, values)
    for row in 0..<plan.count {
      let line = try plan.text(row, 0)
      guard line.contains("Buffers: shared") else { continue }
      return line.split(separator: " ").filter { $0.hasPrefix("hit=") || $0.hasPrefix("read=") }
        .compactMap { $0.split(separator: "=").last.flatMap { Int($0) } }.reduce(0, +)
    }
    throw Unexpected("no pages in the plan")
  }
}

extension StoreUnderTest {
  /// Sends so many events to each host's phone, all hosts in turn.
  fileprivate func send(events: Int, _ hosts: [(host: Host, phone: String)]) async throws {
    for start in stride(from: 0, to: events, by: 50) {
      for (host, phone) in hosts {
        _ = try await send(
          (start..<min(start + 50, events)).map { .alert(Int64($0), epoch: "\(now)") }, host, [phone])
      }
    }
  }
}
