internal import Contract
internal import SQLite

extension SQLiteStore {
  package nonisolated func admit(_ sends: [Admission]) async throws(StoreFailure) -> Admitted {
    let results = try await write { [clock] file in
      let now = clock()
      return try sends.map { try SQLiteAdmission(file: file, send: $0, now: now).admit() }
    }
    // What wakes workers here cannot say which routes, and a lane that looks in vain only reads.
    return Admitted(results: results, routes: Set(Route.allCases))
  }
}

/// Admits one send inside the transaction of its group. The same rules as `push_admit_v2`.
private struct SQLiteAdmission {
  let file: SQLiteFile
  let send: Admission
  let now: Int64

  private struct Phone {
    var device: Int64
    var route: Int64
    var result: SendResult
  }
  private struct KnownEvent {
    var number: Int64
    var expiresAt: Int64
    var isSame: Bool
  }

  private var host: SQLiteValue { .integer(send.host.number) }
  private var kindNumber: Int64 { send.kind == .alert ? 1 : 2 }
  private var kind: SQLiteValue { .integer(kindNumber) }

  func admit() throws -> [SendResult] {
    var phones = try send.registrationIds.map(phone)
    let known = try knownEvent()
    if let known, !known.isSame { return phones.map { _ in .error } }
    if let known, known.expiresAt <= now {
      // Too late for phones that it was not for before; a repeat for the others.
      for i in phones.indices where phones[i].result == .queued {
        if try !isRecipient(phones[i], of: known.number) { phones[i].result = .error }
      }
      return phones.map(\.result)
    }
    guard phones.contains(where: { $0.result == .queued }) else { return phones.map(\.result) }
    if let refusal = try store(phones, known) {
      return phones.map { $0.result == .queued ? refusal : $0.result }
    }
    return phones.map(\.result)
  }

  private func phone(_ registrationId: String) throws -> Phone {
    let rows = try file.run(
      "select device_no, route, dead_at is not null from push_devices where registration_id = ? and host_no = ?",
      [.text(registrationId), host])
    guard let row = rows.first else { return Phone(device: 0, route: 0, result: .error) }
    return Phone(
      device: try row.integer(0), route: try row.integer(1), result: try row.integer(2) != 0 ? .dead : .queued)
  }

  private func knownEvent() throws -> KnownEvent? {
    let rows = try file.run(
      "select number, expires_at, content_digest = ? from push_events where host_no = ? and event_key = ?",
      [.blob(send.contentDigest), host, .blob(send.eventKey)])
    return try rows.first.map {
      KnownEvent(number: try $0.integer(0), expiresAt: try $0.integer(1), isSame: try $0.integer(2) != 0)
    }
  }

  private func isRecipient(_ phone: Phone, of number: Int64) throws -> Bool {
    try !file.run(
      "select 1 from push_event_recipients where host_no = ? and kind = ? and number = ? and device_no = ?",
      [host, kind, .integer(number), .integer(phone.device)]
    ).isEmpty
  }

  /// Stores the event, its recipients and their deliveries; or says why not.
  private func store(_ phones: [Phone], _ known: KnownEvent?) throws -> SendResult? {
    let last = try file.run(
      """
      select number, admitted_at, next_turn_ms from push_events where host_no = ? and kind = ? order by number desc limit 1
      """, [host, kind]
    ).first
    let otherTurn = try file.run(
      "select next_turn_ms from push_events where host_no = ? and kind = ? order by number desc limit 1",
      [host, .integer(3 - kindNumber)]
    ).first?.integer(0)
    let turn = max(now, try last?.integer(2) ?? 0, otherTurn ?? 0)
    let number: Int64
    let deadline: Int64
    if let known {
      number = known.number
      deadline = known.expiresAt
    } else {
      number = (try last?.integer(0) ?? 0) + 1
      deadline = min(send.expiresAt ?? .max, now + Limits.eventLife)
      if deadline <= now { return .error }
      if try isOverQuota(number) { return .rateLimited }
    }
    let isFenced = try send.kind == .alert && fence() >= send.seq
    if known == nil {
      _ = try file.run(
        """
        insert into push_events (host_no, kind, number, seq, event_key, content_digest, fence_key, admitted_at, expires_at,
          next_turn_ms, payload) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          host, kind, .integer(number), .integer(send.seq), .blob(send.eventKey), .blob(send.contentDigest),
          send.fenceKey.map { .blob($0) } ?? .null, .integer(max(now, try last?.integer(1) ?? 0)), .integer(deadline),
          .integer(turn + turns(phones.count)), isFenced ? .null : .blob(send.payload),
        ])
    }
    if send.kind == .dismiss { try raiseFence() }
    let fresh = try addRecipients(phones, number, isFenced: isFenced)
    if fresh.isEmpty || isFenced { return nil }
    if known != nil {
      _ = try file.run(
        "update push_events set payload = ? where host_no = ? and kind = ? and number = ? and payload is null",
        [.blob(send.payload), host, kind, .integer(number)])
      // More phones are more of the host's turn, as if the event were new.
      _ = try file.run(
        "update push_events set next_turn_ms = ? where host_no = ? and kind = ? and number = ?",
        [.integer(turn + turns(fresh.count)), host, kind, .integer(try last?.integer(0) ?? number)])
    }
    for route in Set(fresh.map(\.route)).sorted() {
      let devices = fresh.filter { $0.route == route }.map(\.device).sorted()
      _ = try file.run(
        """
        insert into push_delivery_batches (route, turn, host_no, kind, number, is_silent, visible_at, admitted_at, expires_at,
          devices) values (?, ?, ?, ?, ?, ?, ?7, ?7, ?, ?)
        """,
        [
          .integer(route), .integer(try SQLiteQueue.turn(file, at: turn)), host, kind, .integer(number),
          .integer(send.isSilent ? 1 : 0), .integer(now), .integer(deadline), .text(SQLiteQueue.list(devices)),
        ])
    }
    return nil
  }

  /// How far an event to so many phones moves its host's place in the fair order, in ms.
  private func turns(_ phones: Int) -> Int64 { Int64((phones + 3) / 4) * 20 }

  /// Numbers have no gaps, so the event 300 back answers for the whole window.
  private func isOverQuota(_ number: Int64) throws -> Bool {
    try !file.run(
      "select 1 from push_events where host_no = ? and kind = ? and number = ? and admitted_at > ?",
      [host, kind, .integer(number - Int64(Limits.eventsPerWindow)), .integer(now - Limits.quotaWindow)]
    ).isEmpty
  }

  private func fence() throws -> Int64 {
    guard let key = send.fenceKey else { return -1 }
    return try file.run(
      "select seq from push_dismissed_events where host_no = ? and fence_key = ?", [host, .blob(key)]
    ).first?.integer(0) ?? -1
  }

  private func raiseFence() throws {
    guard let key = send.fenceKey else { return }
    _ = try file.run(
      """
      insert into push_dismissed_events (host_no, fence_key, seq, dismissed_at) values (?, ?, ?, ?)
        on conflict (host_no, fence_key) do update set seq = max(seq, excluded.seq), dismissed_at = excluded.dismissed_at
      """, [host, .blob(key), .integer(send.seq), .integer(now)])
  }

  /// Adds the phones that the event was not for before, and returns them.
  private func addRecipients(_ phones: [Phone], _ number: Int64, isFenced: Bool) throws -> [Phone] {
    try phones.filter { phone in
      guard phone.result == .queued else { return false }
      let rows = try file.run(
        """
        insert into push_event_recipients (host_no, kind, number, device_no, outcome, done_at) values (?, ?, ?, ?, ?, ?)
          on conflict do nothing returning device_no
        """,
        [
          host, kind, .integer(number), .integer(phone.device),
          isFenced ? .integer(Int64(Outcome.cancelled.rawValue)) : .null, isFenced ? .integer(now) : .null,
        ])
      return !rows.isEmpty
    }
  }
}
