import Contract
import Keys
import Loop
import Postgres
import Support
import Testing

@testable import Stores

/// Housekeeping and the way of a push at the same time: neither waits for a row that the other holds (F54).
@Suite struct SweepBesideWorkTests {
  /// Hosts with a phone each.
  private func phones(_ under: StoreUnderTest, _ numbers: Range<Int>) async throws -> [(host: Host, phone: String)] {
    var hosts: [(host: Host, phone: String)] = []
    for number in numbers {
      let host = try await under.host("host \(number)")
      hosts.append((host, try await under.phone(host)))
    }
    return hosts
  }

  /// Four hosts that leave something behind for each step of a sweep; their phones.
  private func litter(_ under: StoreUnderTest) async throws -> [(host: Host, phone: String)] {
    let hosts = try await phones(under, 0..<4)
    for (host, phone) in hosts {
      let gone = try await under.phone(host, "gone")
      try await under.send(.alert(1), host, [phone])
      #expect(try await under.store.unregister(host, registrationId: gone))
    }
    #expect(try await under.deliver().count == 4)
    // What is left to expire.
    for (host, phone) in hosts { try await under.send(.dismissal(2, id: "n"), host, [phone]) }
    try await under.advance(25 * .hour)
    return hosts
  }

  @Test func `A sweep passes over rows that others hold, and takes them once they are free`() async throws {
    try await Scene.run { scene in
      let under = scene.under
      _ = try await litter(under)
      try await scene.hold(Scene.tables.map { "select 1 from \($0) limit 2 for update;" }.joined())
      for step in SweepStep.allCases {
        let swept = try await scene.unhindered { try await under.sweep(step) }
        #expect(swept.values.reduce(0, +) > 0, "\(step)")
      }
      #expect(try await scene.counts() == [2, 2, 2, 2, 2, 2])
      try await scene.letGo()
      for step in SweepStep.allCases { try await under.sweep(step) }
      #expect(try await scene.counts() == [0, 0, 0, 0, 0, 0])
    }
  }

  @Test func `What a sweep holds keeps no claim, settlement or send waiting`() async throws {
    try await Scene.run { scene in
      let under = scene.under
      let old = try await litter(under)
      let hosts = try await phones(under, 4..<8)
      for (host, phone) in hosts { _ = try await under.send([.alert(10), .alert(11)], host, [phone]) }
      // What is left to expire lies below the mark.
      let mark = LowWater(floor: 0, next: (under.now - 5_000) << 20)
      let held = try await under.claim(limit: 4, from: mark).deliveries
      try #require(held.count == 4)
      try await scene.hold(
        """
        delete from push_challenges where expires_at < push_now_ms();
        select * from push_expire_v2(1000);
        select * from push_sweep_payloads_v1(1000);
        select * from push_sweep_events_v1(1000, \(24 * Int64.hour));
        delete from push_dismissed_events where dismissed_at < push_now_ms();
        """)
      let sent = try await scene.unhindered {
        let settled = try await under.settle(
          [held[0].ends(.sent), held[1].again(after: 1_000, attempts: 1), held[2].ends(.failed)])
        #expect(settled == [.ended, .again, .ended])
        #expect(try await under.store.renew([held[3].batch], owner: 1, lease: 30_000) == [held[3].batch])
        #expect(try await under.store.recheck([held[3]]).count == 1)
        for (host, phone) in hosts + old { try await under.send(.alert(12), host, [phone]) }
        return try await under.claim(limit: 100, from: mark).deliveries
      }
      // The four that were left of the first sends, and the four that came while the sweep stood still. What came for the
      // other hosts has something older before it as long as that is not gone for good.
      #expect(sent.count == 8)
      #expect(try await under.settle(sent.map { $0.ends(.sent) }) == sent.map { _ in .ended })
      try await scene.letGo()
      #expect(try await under.claim(limit: 100).deliveries.count == 4)
    }
  }
}

/// A store on Postgres, and a session beside it that holds rows until it is told to let go.
private final class Scene: Sendable {
  static let tables = [
    "push_challenges", "push_sessions", "push_delivery_batches", "push_events", "push_dismissed_events",
    "push_forgotten_devices",
  ]
  private static let counting = PostgresStatement(
    """
    select array[(select count(*) from push_challenges), (select count(*) from push_sessions),
      (select count(*) from push_delivery_batches), (select count(*) from push_events),
      (select count(*) from push_dismissed_events), (select count(*) from push_forgotten_devices)]
    """)
  // The gate is a row, not a session's lock: behind a pooler in transaction mode nobody has a session of his own.
  private static let open = PostgresStatement("insert into gate values (true)")
  private static let standing = PostgresStatement(
    "select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'")
  private static let hindered = PostgresStatement(
    "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")

  let under: StoreUnderTest
  private let gate: PostgresPool
  private let session: PostgresPool
  private let holding = Locked<Task<Void, any Error>?>(nil)

  private init(_ under: StoreUnderTest, _ gate: PostgresPool, _ session: PostgresPool) {
    (self.under, self.gate, self.session) = (under, gate, session)
  }

  static func run(_ body: (Scene) async throws -> Void) async throws {
    try await ScratchDatabase.use { database in
      try await StoreKind.postgres.usePostgres(database, HandClock()) { under in
        let gate = await PostgresPool(database.url, maximum: 1, applicationName: "gate", limits: .patient) { _ in }
        let session = await PostgresPool(database.url, maximum: 1, applicationName: "holder", limits: .patient) { _ in }
        try await gate.script("create table gate (is_open boolean)")
        let scene = Scene(under, gate, session)
        let result: Result<Void, any Error>
        do { result = .success(try await body(scene)) } catch { result = .failure(error) }
        // Whatever happened, nobody is left standing at the gate.
        try await scene.letGo()
        await gate.close()
        await session.close()
        try result.get()
      }
    }
  }

  /// Runs statements in a transaction that ends when it is let go.
  func hold(_ sql: String) async throws {
    let session = session
    holding.withLock {
      $0 = Task {
        try await session.script(
          """
          begin;
          \(sql)
          do $$ begin
            while not exists (select from gate) loop perform pg_sleep(0.002); end loop;
          end $$;
          commit;
          """)
      }
    }
    while try await gate.run(Self.standing).int8(0, 0) == 0 { await Task.yield() }
  }

  func letGo() async throws {
    let task = holding.withLock { task in
      defer { task = nil }
      return task
    }
    guard let task else { return }
    _ = try await gate.run(Self.open)
    try await task.value
  }

  /// What `body` gives, which must come without anybody waiting for a row: whoever does is helped on, for the test to end.
  func unhindered<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
    let isOver = Locked(false)
    let work = Task {
      defer { isOver.withLock { $0 = true } }
      return try await body()
    }
    while !isOver.withLock({ $0 }) {
      if try await gate.run(Self.hindered).int8(0, 0) > 0 {
        Issue.record("somebody waits for what another session holds")
        try await letGo()
        break
      }
      await Task.yield()
    }
    return try await work.value
  }

  /// Rows of each table.
  func counts() async throws -> [Int64] { try await gate.run(Self.counting).int8Array(0, 0) }
}
