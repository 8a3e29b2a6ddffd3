internal import Contract
internal import SQLite

extension SQLiteStore {
  package nonisolated func sweep(_ step: SweepStep, limit: Int) async throws(StoreFailure) -> Swept {
    try await write { [clock] file in try SQLiteSweep(file: file, now: clock()).take(step, limit: limit) }
  }
}

/// One step of housekeeping inside its transaction.
struct SQLiteSweep {
  let file: SQLiteFile
  let now: Int64

  func take(_ step: SweepStep, limit: Int) throws -> Swept {
    let most = SQLiteValue.integer(Int64(limit))
    switch step {
    case .challenges:
      return swept(
        "push_challenges", limit,
        try count(
          """
          delete from push_challenges where challenge_id in (
            select challenge_id from push_challenges where expires_at < ? limit ?) returning 1
          """, [.integer(now - Limits.challengeGrace), most]))
    case .sessions:
      return swept(
        "push_sessions", limit,
        try count(
          """
          delete from push_sessions where host_no in (select host_no from push_sessions where expires_at < ? limit ?)
            returning 1
          """, [.integer(now - Limits.sessionGrace), most]))
    case .deliveries:
      let late = try expire(limit: limit)
      return Swept(rows: ["push_delivery_batches": late.batches], isFull: late.batches == limit)
    case .payloads:
      return swept(
        "push_events.payload", limit,
        try count(
          """
          update push_events set payload = null where rowid in (
            select e.rowid from push_events e where e.payload is not null and not exists (
              select 1 from push_delivery_batches b
               where b.host_no = e.host_no and b.kind = e.kind and b.number = e.number)
            order by e.admitted_at limit ?) returning 1
          """, [most]))
    case .events: return try events(limit: limit)
    case .forgotten:
      return swept(
        "push_forgotten_devices", limit,
        try count(
          """
          delete from push_forgotten_devices where device_no in (
            select device_no from push_forgotten_devices where forgotten_at < ? limit ?) returning 1
          """, [.integer(now - Limits.identityLife), most]))
    case .fences:
      return swept(
        "push_dismissed_events", limit,
        try count(
          """
          delete from push_dismissed_events where (host_no, fence_key) in (
            select host_no, fence_key from push_dismissed_events where dismissed_at < ? limit ?) returning 1
          """, [.integer(now - Limits.identityLife), most]))
    }
  }

  private func swept(_ table: String, _ limit: Int, _ rows: Int) -> Swept {
    Swept(rows: [table: rows], isFull: rows == limit)
  }

  private func count(_ sql: StaticString, _ values: [SQLiteValue]) throws -> Int { try file.run(sql, values).count }

  private func events(limit: Int) throws -> Swept {
    let old = try file.run(
      """
      delete from push_events where rowid in (
        select rowid from push_events where admitted_at < ? order by admitted_at limit ?) returning host_no, kind, number
      """, [.integer(now - Limits.identityLife), .integer(Int64(limit))])
    var recipients = 0
    for event in old {
      recipients += try count(
        "delete from push_event_recipients where host_no = ? and kind = ? and number = ? returning 1",
        [.integer(try event.integer(0)), .integer(try event.integer(1)), .integer(try event.integer(2))])
    }
    return Swept(rows: ["push_events": old.count, "push_event_recipients": recipients], isFull: old.count == limit)
  }

  /// Ends deliveries past their deadline that nobody holds.
  func expire(limit: Int) throws -> (batches: Int, deliveries: Int) {
    let late = try file.run(
      """
      delete from push_delivery_batches where (route, turn) in (
        select route, turn from push_delivery_batches where expires_at <= ?1 and visible_at <= ?1 limit ?2)
        returning host_no, kind, number, devices, admitted_at, tried_at, attempts, unknowns, route, last_reason
      """, [.integer(now), .integer(Int64(limit))])
    var deliveries = 0
    for batch in late {
      for device in SQLiteQueue.devices(try batch.text(3)) {
        deliveries += try count(
          """
          update push_event_recipients set outcome = ?, done_at = ?, queued_at = ?, tried_at = ?, attempts = ?,
              unknowns = ?, route = ?, last_reason = ?
           where host_no = ? and kind = ? and number = ? and device_no = ? and outcome is null returning 1
          """,
          [.integer(Int64(Outcome.expired.rawValue)), .integer(now)] + (4...9).map(batch.value)
            + (0...2).map(batch.value) + [.integer(device)])
      }
    }
    return (late.count, deliveries)
  }
}
