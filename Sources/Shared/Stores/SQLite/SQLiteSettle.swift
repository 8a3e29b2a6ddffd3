internal import Contract
internal import SQLite

/// Records what became of one delivery inside a transaction. The same steps as `push_settle_v2`.
struct SQLiteSettle {
  let file: SQLiteFile
  let owner: Int64
  let now: Int64

  /// What is known of a delivery's attempts, for its record.
  private struct Trace {
    let queuedAt: Int64
    var triedAt: Int64?
    /// As the queue keeps them.
    var attempts: Int64
    var unknowns: Int64?
    var lastReason: String?

    /// Columns tried_at, attempts, unknowns, last_reason.
    var values: [SQLiteValue] {
      [
        triedAt.map { .integer($0) } ?? .null, .integer(attempts), unknowns.map { .integer($0) } ?? .null,
        lastReason.map { .text($0) } ?? .null,
      ]
    }
  }

  func settle(_ settlement: Settlement) throws -> Settled {
    let batch = settlement.batch
    let route = SQLiteValue.integer(Int64(batch.route.rawValue))
    let held = try file.run(
      """
      select host_no, kind, number, expires_at, devices, admitted_at, tried_at, attempts, unknowns, last_reason
        from push_delivery_batches
       where route = ? and turn = ? and fence = ? and owner = ?
      """, [route, .integer(batch.turn), .integer(Int64(batch.fence)), .integer(owner)])
    guard let row = held.first else { return .lost }
    var devices = SQLiteQueue.devices(try row.text(4))
    guard let place = devices.firstIndex(of: settlement.device) else { return .lost }
    devices.remove(at: place)

    let expiresAt = try row.integer(3)
    let event = (0...2).map(row.value)
    var trace = Trace(
      queuedAt: try row.integer(5), triedAt: try row.optionalInteger(6), attempts: try row.integer(7),
      unknowns: try row.optionalInteger(8), lastReason: try row.optionalText(9))
    if settlement.attempt != .none { trace.triedAt = now }
    if settlement.attempt == .unknown { trace.unknowns = (trace.unknowns ?? 0) + 1 }
    let answer: Settled
    switch settlement.verdict {
    case .ended(let outcome, let detail):
      if settlement.attempt != .none { trace.attempts += 1 }
      let cause = outcome == .cancelled && detail == nil ? try cancelCause(settlement, event) : detail
      try end(settlement, event, outcome, cause, trace)
      answer = .ended
    case .again(let wait, let attempts, let reason):
      trace.attempts = Int64(attempts)
      trace.lastReason = reason ?? trace.lastReason
      if now + wait >= expiresAt {
        try end(settlement, event, .expired, nil, trace)
        answer = .expired
      } else {
        try requeue(settlement, wait: wait, trace)
        answer = .again
      }
    }
    if let token = settlement.proves {
      _ = try file.run(
        "update push_devices set is_proven = 1 where device_no = ? and route = ? and token = ?",
        [.integer(settlement.device), route, .text(token)])
    }
    if let kill = settlement.kills { try markDead(settlement, kill) }
    if devices.isEmpty {
      _ = try file.run("delete from push_delivery_batches where route = ? and turn = ?", [route, .integer(batch.turn)])
    } else {
      _ = try file.run(
        "update push_delivery_batches set devices = ? where route = ? and turn = ?",
        [.text(SQLiteQueue.list(devices)), route, .integer(batch.turn)])
    }
    return answer
  }

  private func end(
    _ settlement: Settlement, _ event: [SQLiteValue], _ outcome: Outcome, _ detail: String?, _ trace: Trace
  ) throws {
    _ = try file.run(
      """
      update push_event_recipients set outcome = ?, done_at = ?, detail = ?, route = ?, queued_at = ?, tried_at = ?,
          attempts = ?, unknowns = ?, last_reason = ?
       where host_no = ? and kind = ? and number = ? and device_no = ? and outcome is null
      """,
      [
        .integer(Int64(outcome.rawValue)), .integer(now), detail.map { .text($0) } ?? .null,
        .integer(Int64(settlement.batch.route.rawValue)), .integer(trace.queuedAt),
      ] + trace.values + event + [.integer(settlement.device)])
  }

  /// Why a delivery is not to be sent any more. The same as `push_cancel_cause_v1`.
  private func cancelCause(_ settlement: Settlement, _ event: [SQLiteValue]) throws -> String? {
    let route = SQLiteValue.integer(Int64(settlement.batch.route.rawValue))
    return try file.run(
      """
      select case
               when e.kind = 1 and exists (select 1 from push_dismissed_events f
                 where f.host_no = e.host_no and f.fence_key = e.fence_key and f.seq >= e.seq) then 'dismissed'
               when d.device_no is null then 'deleted'
               when d.dead_at is not null then 'token_dead'
               when d.route <> ? then 'moved'
             end
        from push_events e left join push_devices d on d.device_no = ?
       where e.host_no = ? and e.kind = ? and e.number = ?
      """, [route, .integer(settlement.device)] + event
    ).first?.optionalText(0)
  }

  /// The delivery goes on in a row of its own, whose place in the order is the time that it is due.
  private func requeue(_ settlement: Settlement, wait: Int64, _ trace: Trace) throws {
    let values: [SQLiteValue] =
      [.integer(try SQLiteQueue.turn(file, at: now + wait)), .integer(now + wait)] + trace.values + [
        .text(SQLiteQueue.list([settlement.device])), .integer(Int64(settlement.batch.route.rawValue)),
        .integer(settlement.batch.turn),
      ]
    _ = try file.run(
      """
      insert into push_delivery_batches (route, turn, host_no, kind, number, is_silent, visible_at, tried_at, attempts,
          unknowns, last_reason, admitted_at, expires_at, devices)
        select route, ?, host_no, kind, number, is_silent, ?, ?, ?, ?, ?, admitted_at, expires_at, ?
          from push_delivery_batches where route = ? and turn = ?
      """, values)
  }

  private func markDead(_ settlement: Settlement, _ kill: (token: String, registeredBefore: Int64?)) throws {
    _ = try file.run(
      """
      update push_devices set dead_at = ? where device_no = ? and route = ? and token = ? and dead_at is null
        and registered_at < ?
      """,
      [
        .integer(now), .integer(settlement.device), .integer(Int64(settlement.batch.route.rawValue)),
        .text(kill.token), .integer(kill.registeredBefore ?? .max),
      ])
  }
}
