internal import Contract
internal import SQLite

/// One claim inside its transaction. The same steps as `push_claim_v3`, but that what ended leaves no
/// trace in this file's indexes: its floor stays at the bottom.
struct SQLiteClaim {
  let file: SQLiteFile
  let route: Route
  let owner: Int64
  let now: Int64

  private struct Batch {
    var turn: Int64
    var host: Host
    var kind: Int64
    var number: Int64
    var isSilent: Bool
    var attempts: Int
    var admittedAt: Int64
    var expiresAt: Int64
    var fence: Int32
    var devices: [Int64]
  }

  private var routeValue: SQLiteValue { .integer(Int64(route.rawValue)) }

  func take(limit: ClaimLimit, lease: Int64, after: Int64) throws -> Claim {
    let candidates = try candidates(limit: limit, after: after)
    var blocked: [Int64: Bool] = [:]
    var isBelow = false
    var deliveries: [ClaimedDelivery] = []
    var ended: [Outcome: Int] = [:]
    var taken = 0
    var takenOf: [Int64: Int] = [:]
    for var batch in candidates where taken < limit.deliveries {
      let host = batch.host.number
      if blocked[host] == nil {
        blocked[host] = try isHeldElsewhere(host)
        // A host's order is kept: what lies below the mark, as what a dead worker held does once its lease has lapsed, comes
        // first.
        if blocked[host] == false, after > 0, try isDue(host, below: after) {
          isBelow = true
          blocked[host] = true
        }
      }
      if blocked[host] == true || takenOf[host, default: 0] >= limit.ofHost { continue }
      taken += batch.devices.count
      takenOf[host, default: 0] += batch.devices.count
      batch.fence += 1
      _ = try file.run(
        "update push_delivery_batches set owner = ?, fence = ?, visible_at = ? where route = ? and turn = ?",
        [.integer(owner), .integer(Int64(batch.fence)), .integer(now + lease), routeValue, .integer(batch.turn)])
      try read(batch, &deliveries, &ended)
    }
    return Claim(
      deliveries: deliveries, ended: ended, looked: candidates.count,
      lowWater: LowWater(
        floor: 0, next: isBelow ? 0 : next(candidates, isFull: candidates.count == limit.batches, taken: taken)),
      hasOlder: isBelow)
  }

  /// Not above what may still be committing; past everything only when all of a full look was blocked.
  private func next(_ candidates: [Batch], isFull: Bool, taken: Int) -> Int64 {
    let low = (now - 5_000) << 20
    if isFull, taken == 0, let last = candidates.last { return last.turn + 1 }
    return min(candidates.first?.turn ?? low, low)
  }

  private func candidates(limit: ClaimLimit, after: Int64) throws -> [Batch] {
    let without = "[\(limit.without.map(String.init).joined(separator: ","))]"
    return try file.run(
      """
      select b.turn, b.host_no, h.fingerprint, b.kind, b.number, b.is_silent, b.attempts, b.admitted_at, b.expires_at, b.fence,
             b.devices
        from push_delivery_batches b join push_hosts h using (host_no)
       where b.route = ? and b.turn >= ? and b.visible_at <= ? and b.host_no not in (select value from json_each(?))
       order by b.turn limit ?
      """, [routeValue, .integer(after), .integer(now), .text(without), .integer(Int64(limit.batches))]
    ).compactMap { row in
      guard let fingerprint = HostFingerprint(try row.text(2)) else { return nil }
      return Batch(
        turn: try row.integer(0), host: Host(number: try row.integer(1), fingerprint: fingerprint),
        kind: try row.integer(3), number: try row.integer(4), isSilent: try row.integer(5) != 0,
        attempts: Int(try row.integer(6)), admittedAt: try row.integer(7), expiresAt: try row.integer(8),
        fence: Int32(truncatingIfNeeded: try row.integer(9)), devices: SQLiteQueue.devices(try row.text(10)))
    }
  }

  private func isDue(_ host: Int64, below mark: Int64) throws -> Bool {
    try !file.run(
      """
      select 1 from push_delivery_batches where host_no = ? and route = ? and turn < ? and visible_at <= ? limit 1
      """, [.integer(host), routeValue, .integer(mark), .integer(now)]
    ).isEmpty
  }

  /// By the host's own rows: left to itself, SQLite reads the route's whole queue.
  private func isHeldElsewhere(_ host: Int64) throws -> Bool {
    try !file.run(
      """
      select 1 from push_delivery_batches indexed by push_delivery_batches_event
       where host_no = ? and route = ? and visible_at > ? and owner is not null and owner <> ? limit 1
      """, [.integer(host), routeValue, .integer(now), .integer(owner)]
    ).isEmpty
  }

  /// Adds the batch's deliveries that may be sent; ends the others.
  private func read(_ batch: Batch, _ deliveries: inout [ClaimedDelivery], _ ended: inout [Outcome: Int]) throws {
    let key = BatchKey(route: route, turn: batch.turn, fence: batch.fence)
    let events = try file.run(
      """
      select e.event_key, e.payload, e.kind = 1 and exists (select 1 from push_dismissed_events f
          where f.host_no = e.host_no and f.fence_key = e.fence_key and f.seq >= e.seq)
        from push_events e where e.host_no = ? and e.kind = ? and e.number = ?
      """, [.integer(batch.host.number), .integer(batch.kind), .integer(batch.number)])
    let payload = try events.first?.optionalBlob(1)
    let isFenced = try events.first?.integer(2) != 0
    let settle = SQLiteSettle(file: file, owner: owner, now: now)
    for device in batch.devices {
      let phones = try file.run(
        """
        select registration_id, token, registered_at, is_proven from push_devices
         where device_no = ? and route = ? and dead_at is null
        """, [.integer(device), routeValue])
      guard batch.expiresAt > now, !isFenced, let event = events.first, let payload, let phone = phones.first else {
        let outcome: Outcome = batch.expiresAt <= now ? .expired : .cancelled
        _ = try settle.settle(Settlement(batch: key, device: device, verdict: .ended(outcome, detail: nil)))
        ended[outcome, default: 0] += 1
        continue
      }
      let registrationId = try phone.text(0)
      deliveries.append(
        ClaimedDelivery(
          batch: key, host: batch.host, device: device, registrationId: registrationId, route: route,
          token: try phone.text(1), registeredAt: try phone.integer(2), isProven: try phone.integer(3) != 0,
          attempts: batch.attempts, isSilent: batch.isSilent, admittedAt: batch.admittedAt, expiresAt: batch.expiresAt,
          claimedAt: now,
          identity: DeliveryIdentity.make(
            host: batch.host, eventKey: try event.blob(0), registrationId: registrationId),
          payload: payload))
    }
  }
}
