package import Contract
internal import Postgres

extension PostgresStore {
  private static let reading = PostgresStatement(
    """
    select e.kind, coalesce(d.registration_id, f.registration_id), coalesce(r.route, b.route, d.route, f.route), r.outcome,
           coalesce(r.detail, case when r.outcome = 5 and exists (select 1 from push_dismissed_events x
             where x.host_no = e.host_no and x.fence_key = e.fence_key and x.seq >= e.seq) then 'dismissed' end),
           r.done_at, coalesce(r.queued_at, b.admitted_at, e.admitted_at), coalesce(r.tried_at, b.tried_at),
           coalesce(r.attempts, b.attempts), coalesce(r.unknowns, b.unknowns), coalesce(r.last_reason, b.last_reason),
           e.expires_at, b.visible_at, b.owner is not null,
           exists (select 1 from push_delivery_batches o where o.host_no = e.host_no and o.route = b.route
             and o.turn <> b.turn and o.owner is not null and o.visible_at > c.t), c.t, f.forgotten_at
      from (select push_now_ms() t) c, push_events e
      join push_event_recipients r on r.host_no = e.host_no and r.kind = e.kind and r.number = e.number
      left join push_devices d on d.device_no = r.device_no
      left join push_forgotten_devices f on f.device_no = r.device_no
      left join lateral (
        select q.* from push_delivery_batches q
         where q.host_no = e.host_no and q.kind = e.kind and q.number = e.number and r.device_no = any(q.devices)
           and r.outcome is null limit 1) b on true
     where e.host_no = $1 and e.event_key = any($2) order by e.kind, r.device_no limit $3
    """)
  // `{` follows the last character of the base64url alphabet.
  private static let seeking = PostgresStatement(
    "select host_no, fingerprint from push_hosts where fingerprint >= $1 and fingerprint < $1 || '{' limit $2")

  package func records(of host: Host, events: [[UInt8]]) async throws(StoreFailure) -> [DeliveryRecord] {
    try await run(Self.reading, [.int8(host.number), .uuids(events), .int8(Int64(RecordLimit.most))]) {
      rows throws(PostgresFailure) in
      var records: [DeliveryRecord] = []
      for row in 0..<rows.count {
        records.append(
          RecordRow(
            kind: try rows.int2(row, 0) == 1 ? .alert : .dismiss, registrationId: try rows.optionalText(row, 1),
            route: try rows.optionalInt2(row, 2).flatMap(Route.init),
            outcome: try rows.optionalInt2(row, 3).flatMap(Outcome.init),
            detail: try rows.optionalText(row, 4), doneAt: try rows.optionalInt8(row, 5),
            queuedAt: try rows.int8(row, 6), triedAt: try rows.optionalInt8(row, 7),
            attempts: try rows.optionalInt2(row, 8).map(Int.init), unknowns: Int(try rows.optionalInt2(row, 9) ?? 0),
            lastReason: try rows.optionalText(row, 10), expiresAt: try rows.int8(row, 11),
            visibleAt: try rows.optionalInt8(row, 12), isOwned: try rows.bool(row, 13),
            deletedAt: try rows.optionalInt8(row, 16), isBehind: try rows.bool(row, 14), now: try rows.int8(row, 15)
          ).record)
      }
      return records
    }
  }

  package func hosts(prefix: String, limit: Int) async throws(StoreFailure) -> [Host] {
    try await run(Self.seeking, [.text(prefix), .int8(Int64(limit))]) { rows throws(PostgresFailure) in
      var hosts: [Host] = []
      for row in 0..<rows.count {
        guard let fingerprint = HostFingerprint(try rows.text(row, 1)) else { continue }
        hosts.append(Host(number: try rows.int8(row, 0), fingerprint: fingerprint))
      }
      return hosts
    }
  }
}
