internal import Contract
internal import Postgres

extension PostgresStore {
  private static let challenges = PostgresStatement(
    """
    with gone as (delete from push_challenges where challenge_id in (
      select challenge_id from push_challenges where expires_at < push_now_ms() - $1 limit $2 for update skip locked)
      returning 1)
    select count(*) from gone
    """)
  private static let sessions = PostgresStatement(
    """
    with gone as (delete from push_sessions where host_no in (
      select host_no from push_sessions where expires_at < push_now_ms() - $1 limit $2 for update skip locked)
      returning 1)
    select count(*) from gone
    """)
  private static let fences = PostgresStatement(
    """
    with gone as (delete from push_dismissed_events where (host_no, fence_key) in (
      select host_no, fence_key from push_dismissed_events where dismissed_at < push_now_ms() - $1 limit $2
        for update skip locked)
      returning 1)
    select count(*) from gone
    """)
  private static let forgotten = PostgresStatement(
    """
    with gone as (delete from push_forgotten_devices where device_no in (
      select device_no from push_forgotten_devices where forgotten_at < push_now_ms() - $1 limit $2
        for update skip locked)
      returning 1)
    select count(*) from gone
    """)
  private static let late = PostgresStatement("select * from push_expire_v2($1)")
  private static let payloads = PostgresStatement("select * from push_sweep_payloads_v1($1)")
  private static let events = PostgresStatement("select * from push_sweep_events_v1($1, $2)")

  package func sweep(_ step: SweepStep, limit: Int) async throws(StoreFailure) -> Swept {
    switch step {
    case .challenges: return try await chunk(Self.challenges, "push_challenges", Limits.challengeGrace, limit)
    case .sessions: return try await chunk(Self.sessions, "push_sessions", Limits.sessionGrace, limit)
    case .fences: return try await chunk(Self.fences, "push_dismissed_events", Limits.identityLife, limit)
    case .forgotten: return try await chunk(Self.forgotten, "push_forgotten_devices", Limits.identityLife, limit)
    case .deliveries:
      return try await run(Self.late, [.int4(Int32(limit))]) { rows throws(PostgresFailure) in
        let batches = Int(try rows.int8(0, 0))
        return Swept(rows: ["push_delivery_batches": batches], isFull: batches == limit)
      }
    case .payloads:
      return try await run(Self.payloads, [.int4(Int32(limit))]) { rows throws(PostgresFailure) in
        Swept(rows: ["push_events.payload": Int(try rows.int8(0, 1))], isFull: Int(try rows.int8(0, 0)) == limit)
      }
    case .events:
      return try await run(Self.events, [.int4(Int32(limit)), .int8(Limits.identityLife)]) {
        rows throws(PostgresFailure) in
        let events = Int(try rows.int8(0, 0))
        return Swept(
          rows: ["push_events": events, "push_event_recipients": Int(try rows.int8(0, 1))], isFull: events == limit)
      }
    }
  }

  /// Deletes rows that ended more than `grace` ms ago.
  private func chunk(
    _ statement: PostgresStatement, _ table: String, _ grace: Int64, _ limit: Int
  ) async throws(StoreFailure) -> Swept {
    try await run(statement, [.int8(grace), .int8(Int64(limit))]) { rows throws(PostgresFailure) in
      let rows = Int(try rows.int8(0, 0))
      return Swept(rows: [table: rows], isFull: rows == limit)
    }
  }
}
