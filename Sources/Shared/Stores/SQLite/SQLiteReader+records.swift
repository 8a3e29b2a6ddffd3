internal import Contract
internal import SQLite

extension SQLiteReader {
  func records(of host: Host, events: [[UInt8]]) throws(StoreFailure) -> [DeliveryRecord] {
    var records: [DeliveryRecord] = []
    for event in events { records += try self.records(of: host, event: event) }
    return Array(records.prefix(RecordLimit.most))
  }

  private func records(of host: Host, event: [UInt8]) throws(StoreFailure) -> [DeliveryRecord] {
    let now = clock()
    let found = try rows(
      """
      select e.kind, coalesce(d.registration_id, f.registration_id), coalesce(r.route, b.route, d.route, f.route),
             r.outcome,
             coalesce(r.detail, case when r.outcome = 5 and exists (select 1 from push_dismissed_events x
               where x.host_no = e.host_no and x.fence_key = e.fence_key and x.seq >= e.seq) then 'dismissed' end),
             r.done_at, coalesce(r.queued_at, b.admitted_at, e.admitted_at), coalesce(r.tried_at, b.tried_at),
             coalesce(r.attempts, b.attempts), coalesce(r.unknowns, b.unknowns), coalesce(r.last_reason, b.last_reason),
             e.expires_at, b.visible_at, b.owner is not null,
             exists (select 1 from push_delivery_batches o where o.host_no = e.host_no and o.route = b.route
               and o.turn <> b.turn and o.owner is not null and o.visible_at > ?1), f.forgotten_at
        from push_events e
        join push_event_recipients r on r.host_no = e.host_no and r.kind = e.kind and r.number = e.number
        left join push_devices d on d.device_no = r.device_no
        left join push_forgotten_devices f on f.device_no = r.device_no
        left join push_delivery_batches b on b.host_no = e.host_no and b.kind = e.kind and b.number = e.number
          and r.outcome is null and instr(',' || b.devices || ',', ',' || r.device_no || ',') > 0
       where e.host_no = ?2 and e.event_key = ?3 order by r.device_no limit ?4
      """, [.integer(now), .integer(host.number), .blob(event), .integer(Int64(RecordLimit.most))])
    do { return try found.map { try Self.row($0, now: now).record } } catch { throw StoreFailure(error) }
  }

  private static func row(_ row: SQLiteRow, now: Int64) throws(SQLiteFailure) -> RecordRow {
    func number<T: FixedWidthInteger>(_ column: Int) throws(SQLiteFailure) -> T? {
      try row.optionalInteger(column).map { T(clamping: $0) }
    }
    let route: Int16? = try number(2)
    let outcome: Int16? = try number(3)
    return RecordRow(
      kind: try row.integer(0) == 1 ? .alert : .dismiss, registrationId: try row.optionalText(1),
      route: route.flatMap(Route.init), outcome: outcome.flatMap(Outcome.init), detail: try row.optionalText(4),
      doneAt: try row.optionalInteger(5), queuedAt: try row.integer(6), triedAt: try row.optionalInteger(7),
      attempts: try number(8), unknowns: try number(9) ?? 0, lastReason: try row.optionalText(10),
      expiresAt: try row.integer(11), visibleAt: try row.optionalInteger(12), isOwned: try row.integer(13) != 0,
      deletedAt: try row.optionalInteger(15), isBehind: try row.integer(14) != 0, now: now)
  }

  func hosts(prefix: String, limit: Int) throws(StoreFailure) -> [Host] {
    // `{` follows the last character of the base64url alphabet.
    let found = try rows(
      "select host_no, fingerprint from push_hosts where fingerprint >= ?1 and fingerprint < ?1 || '{' limit ?2",
      [.text(prefix), .integer(Int64(limit))])
    do {
      return try found.compactMap { row in
        guard let fingerprint = HostFingerprint(try row.text(1)) else { return nil }
        return Host(number: try row.integer(0), fingerprint: fingerprint)
      }
    } catch { throw StoreFailure(error) }
  }
}
