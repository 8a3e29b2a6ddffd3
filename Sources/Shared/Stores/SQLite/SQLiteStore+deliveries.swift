package import Contract
internal import SQLite

extension SQLiteStore {
  package nonisolated func claim(
    _ route: Route, owner: Int64, limit: ClaimLimit, lease: Int64, from marks: LowWater
  ) async throws(StoreFailure) -> Claim {
    let now = clock()
    // A look that writes nothing first: an idle claim must not take the file's write lock.
    if try await reader.isIdle(route, now: now) {
      return Claim(deliveries: [], ended: [:], looked: 0, lowWater: LowWater(floor: 0, next: (now - 5_000) << 20))
    }
    return try await write { file in
      try SQLiteClaim(file: file, route: route, owner: owner, now: now).take(
        limit: limit, lease: lease, after: marks.next)
    }
  }

  package func recheck(_ deliveries: [ClaimedDelivery]) async throws(StoreFailure) -> [Recheck] {
    do {
      return try deliveries.map { delivery in
        let rows = try file.run(
          """
          select d.token, d.registered_at, d.is_proven from push_delivery_batches b
            join push_events e using (host_no, kind, number)
            join push_devices d on d.device_no = ? and d.route = b.route and d.dead_at is null
           where b.route = ? and b.turn = ? and not (e.kind = 1 and exists (select 1 from push_dismissed_events f
             where f.host_no = e.host_no and f.fence_key = e.fence_key and f.seq >= e.seq))
          """,
          [.integer(delivery.device), .integer(Int64(delivery.batch.route.rawValue)), .integer(delivery.batch.turn)])
        guard let row = rows.first else { return .cancelled }
        return .send(
          token: try row.text(0), registeredAt: try row.integer(1), isProven: try row.integer(2) != 0)
      }
    } catch { throw StoreFailure(error) }
  }

  package nonisolated func renew(
    _ batches: [BatchKey], owner: Int64, lease: Int64
  ) async throws(StoreFailure) -> Set<BatchKey> {
    try await write { [clock] file in
      let now = clock()
      return try Set(
        batches.filter { batch in
          try !file.run(
            """
            update push_delivery_batches set visible_at = ? where route = ? and turn = ? and fence = ? and owner = ?
              and visible_at > ? returning turn
            """,
            [
              .integer(now + lease), .integer(Int64(batch.route.rawValue)), .integer(batch.turn),
              .integer(Int64(batch.fence)), .integer(owner), .integer(now),
            ]
          ).isEmpty
        })
    }
  }

  package nonisolated func settle(_ settlements: [Settlement], owner: Int64) async throws(StoreFailure) -> [Settled] {
    try await write { [clock] file in
      let now = clock()
      return try settlements.map { try SQLiteSettle(file: file, owner: owner, now: now).settle($0) }
    }
  }

  package nonisolated func release(
    _ batches: [(key: BatchKey, reason: String?)], owner: Int64
  ) async throws(StoreFailure) {
    try await write { [clock] file in
      let now = clock()
      for (batch, reason) in batches {
        _ = try file.run(
          """
          update push_delivery_batches set owner = null, visible_at = ?, last_reason = coalesce(?, last_reason)
           where route = ? and turn = ? and fence = ? and owner = ?
          """,
          [
            .integer(now), reason.map { .text($0) } ?? .null, .integer(Int64(batch.route.rawValue)),
            .integer(batch.turn), .integer(Int64(batch.fence)), .integer(owner),
          ])
      }
    }
  }

  package nonisolated func disown(
    _ route: Route, owners: [Int64], known: [BatchKey]
  ) async throws(StoreFailure) -> Int {
    let known = Set(known)
    let owners = Set(owners)
    return try await write { [clock] file in
      let now = clock()
      let routeValue = SQLiteValue.integer(Int64(route.rawValue))
      let held = try file.run(
        "select turn, fence, owner from push_delivery_batches where route = ? and owner is not null and visible_at > ?",
        [routeValue, .integer(now)])
      var rows = 0
      for row in held {
        let fence = Int32(truncatingIfNeeded: try row.integer(1))
        let key = BatchKey(route: route, turn: try row.integer(0), fence: fence)
        let owner = try row.integer(2)
        if known.contains(key) || !owners.contains(owner) { continue }
        _ = try file.run(
          "update push_delivery_batches set owner = null, visible_at = ? where route = ? and turn = ?",
          [.integer(now), routeValue, .integer(key.turn)])
        rows += 1
      }
      return rows
    }
  }

  package nonisolated func expire(limit: Int) async throws(StoreFailure) -> Int {
    try await write { [clock] file in try SQLiteSweep(file: file, now: clock()).expire(limit: limit).deliveries }
  }

  package nonisolated func explain(
    _ routes: [Route], _ reason: String, overdue: Int64, limit: Int
  ) async throws(StoreFailure) -> Int {
    try await write { [clock] file in
      let now = clock()
      var rows = 0
      for route in routes {
        rows += try file.run(
          """
          update push_delivery_batches set last_reason = ?1 where route = ?2 and turn in (
            select turn from push_delivery_batches
             where route = ?2 and fence = 0 and last_reason is null and visible_at <= ?3 limit ?4) returning 1
          """,
          [
            .text(reason), .integer(Int64(route.rawValue)), .integer(now - overdue), .integer(Int64(limit - rows)),
          ]
        ).count
      }
      return rows
    }
  }

  package nonisolated func depth() async throws(StoreFailure) -> QueueDepth { try await reader.depth() }
}
