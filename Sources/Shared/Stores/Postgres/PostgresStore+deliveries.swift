package import Contract
internal import Postgres

extension PostgresStore {
  private static let claiming = PostgresStatement("select * from push_claim_v3($1, $2, $3, $4, $5, $6, $7, $8, $9)")
  private static let rechecking = PostgresStatement("select * from push_recheck_v1($1, $2, $3)")
  private static let renewing = PostgresStatement("select * from push_renew_v1($1, $2, $3, $4, $5)")
  private static let releasing = PostgresStatement("select push_release_v2($1, $2, $3, $4, $5)")
  private static let settling = PostgresStatement(
    "select push_settle_v2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)")
  private static let disowning = PostgresStatement("select push_disown_v1($1, $2, $3, $4)")
  private static let expiring = PostgresStatement("select * from push_expire_v2($1)")
  private static let explaining = PostgresStatement(
    """
    with told as (update push_delivery_batches set last_reason = $2 where (route, turn) in (
      select route, turn from push_delivery_batches
       where route = any($1) and fence = 0 and last_reason is null and visible_at <= push_now_ms() - $3
       limit $4 for update skip locked)
      returning 1)
    select count(*) from told
    """)
  private static let measuring = PostgresStatement(
    """
    select coalesce(sum(cardinality(devices)), 0)::int8,
           coalesce(max(c.t - visible_at) filter (where visible_at <= c.t), 0)::int8
      from push_delivery_batches, (select push_now_ms() t) c
    """)

  package func claim(
    _ route: Route, owner: Int64, limit: ClaimLimit, lease: Int64, from marks: LowWater
  ) async throws(StoreFailure) -> Claim {
    let (claim, dead) = try await run(
      Self.claiming,
      [
        .int2(route.rawValue), .int8(owner), .int4(Int32(clamping: limit.batches)),
        .int4(Int32(clamping: limit.deliveries)), .int4(Int32(clamping: limit.ofHost)), .int8s(limit.without),
        .int8(lease), .int8(marks.floor), .int8(marks.next),
      ]
    ) { rows throws(PostgresFailure) in try PostgresClaim.read(rows, route: route) }
    guard !dead.isEmpty else { return claim }
    // Rare: what has expired, was dismissed or has no phone any more ends here, in a second statement.
    var result = claim
    for (settlement, answer) in zip(dead, try await settle(dead, owner: owner)) where answer == .ended {
      if case .ended(let outcome, _) = settlement.verdict { result.ended[outcome, default: 0] += 1 }
    }
    return result
  }

  package func recheck(_ deliveries: [ClaimedDelivery]) async throws(StoreFailure) -> [Recheck] {
    try await run(
      Self.rechecking,
      [
        .int2s(deliveries.map(\.batch.route.rawValue)), .int8s(deliveries.map(\.batch.turn)),
        .int8s(deliveries.map(\.device)),
      ]
    ) { rows throws(PostgresFailure) in
      var checks: [Recheck] = []
      for row in 0..<rows.count {
        if try rows.bool(row, 0) {
          checks.append(
            .send(
              token: try rows.text(row, 1), registeredAt: try rows.int8(row, 2), isProven: try rows.bool(row, 3)))
        } else {
          checks.append(.cancelled)
        }
      }
      return checks
    }
  }

  package func renew(_ batches: [BatchKey], owner: Int64, lease: Int64) async throws(StoreFailure) -> Set<BatchKey> {
    try await run(Self.renewing, keys(batches, owner) + [.int8(lease)]) { rows throws(PostgresFailure) in
      var held: Set<BatchKey> = []
      for row in 0..<rows.count {
        guard let route = Route(rawValue: try rows.int2(row, 0)) else { continue }
        held.insert(BatchKey(route: route, turn: try rows.int8(row, 1), fence: try rows.int4(row, 2)))
      }
      return held
    }
  }

  package func release(
    _ batches: [(key: BatchKey, reason: String?)], owner: Int64
  ) async throws(StoreFailure) {
    let values = keys(batches.map(\.key), owner) + [.texts(batches.map(\.reason))]
    try await run(Self.releasing, values) { _ throws(PostgresFailure) in }
  }

  package func disown(
    _ route: Route, owners: [Int64], known: [BatchKey]
  ) async throws(StoreFailure) -> Int {
    try await run(
      Self.disowning,
      [.int2(route.rawValue), .int8s(owners), .int8s(known.map(\.turn)), .int4s(known.map(\.fence))]
    ) { rows throws(PostgresFailure) in Int(try rows.int8(0, 0)) }
  }

  private func keys(_ batches: [BatchKey], _ owner: Int64) -> [PostgresValue] {
    [
      .int8(owner), .int2s(batches.map(\.route.rawValue)), .int8s(batches.map(\.turn)), .int4s(batches.map(\.fence)),
    ]
  }

  package func settle(_ settlements: [Settlement], owner: Int64) async throws(StoreFailure) -> [Settled] {
    if settlements.isEmpty { return [] }
    let columns = PostgresSettlements(settlements)
    let answers = try await run(Self.settling, [.int8(owner)] + columns.values) { rows throws(PostgresFailure) in
      try rows.int2Array(0, 0)
    }
    return answers.map { Settled(rawValue: $0) ?? .lost }
  }

  package func expire(limit: Int) async throws(StoreFailure) -> Int {
    try await run(Self.expiring, [.int4(Int32(limit))]) { rows throws(PostgresFailure) in Int(try rows.int8(0, 1)) }
  }

  package func explain(
    _ routes: [Route], _ reason: String, overdue: Int64, limit: Int
  ) async throws(StoreFailure) -> Int {
    try await run(
      Self.explaining, [.int2s(routes.map(\.rawValue)), .text(reason), .int8(overdue), .int8(Int64(limit))]
    ) { rows throws(PostgresFailure) in Int(try rows.int8(0, 0)) }
  }

  package func depth() async throws(StoreFailure) -> QueueDepth {
    try await run(Self.measuring) { rows throws(PostgresFailure) in
      QueueDepth(deliveries: try rows.int8(0, 0), oldestDue: try rows.int8(0, 1))
    }
  }
}
