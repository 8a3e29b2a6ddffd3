internal import Contract
internal import SQLite

/// Records what became of one delivery inside a transaction. The same steps as `push_settle_v1`.
struct SQLiteSettle {
  let file: SQLiteFile
  let owner: Int64
  let now: Int64

  func settle(_ settlement: Settlement) throws -> Settled {
    let batch = settlement.batch
    let route = SQLiteValue.integer(Int64(batch.route.rawValue))
    let held = try file.run(
      """
      select host_no, kind, number, expires_at, devices from push_delivery_batches
       where route = ? and turn = ? and fence = ? and owner = ?
      """, [route, .integer(batch.turn), .integer(Int64(batch.fence)), .integer(owner)])
    guard let row = held.first else { return .lost }
    var devices = SQLiteQueue.devices(try row.text(4))
    guard let place = devices.firstIndex(of: settlement.device) else { return .lost }
    devices.remove(at: place)

    let expiresAt = try row.integer(3)
    let event: [SQLiteValue] = [
      .integer(try row.integer(0)), .integer(try row.integer(1)), .integer(try row.integer(2)),
    ]
    let answer: Settled
    switch settlement.verdict {
    case .ended(let outcome, let detail):
      try end(settlement.device, event, outcome, detail)
      answer = .ended
    case .again(let wait, let attempts):
      if now + wait >= expiresAt {
        try end(settlement.device, event, .expired, nil)
        answer = .expired
      } else {
        try requeue(settlement, wait: wait, attempts: attempts)
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

  private func end(_ device: Int64, _ event: [SQLiteValue], _ outcome: Outcome, _ detail: String?) throws {
    _ = try file.run(
      """
      update push_event_recipients set outcome = ?, done_at = ?, detail = ?
       where host_no = ? and kind = ? and number = ? and device_no = ? and outcome is null
      """,
      [.integer(Int64(outcome.rawValue)), .integer(now), detail.map { .text($0) } ?? .null] + event
        + [.integer(device)])
  }

  /// The delivery goes on in a row of its own, whose place in the order is the time that it is due.
  private func requeue(_ settlement: Settlement, wait: Int64, attempts: Int) throws {
    _ = try file.run(
      """
      insert into push_delivery_batches (route, turn, host_no, kind, number, is_silent, attempts, visible_at, admitted_at,
          expires_at, devices)
        select route, ?, host_no, kind, number, is_silent, ?, ?, admitted_at, expires_at, ? from push_delivery_batches
         where route = ? and turn = ?
      """,
      [
        .integer(try SQLiteQueue.turn(file, at: now + wait)), .integer(Int64(attempts)), .integer(now + wait),
        .text(SQLiteQueue.list([settlement.device])), .integer(Int64(settlement.batch.route.rawValue)),
        .integer(settlement.batch.turn),
      ])
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
