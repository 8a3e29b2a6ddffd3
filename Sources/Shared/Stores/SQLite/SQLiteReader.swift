internal import Contract
internal import Loop
internal import SQLite

/// The reading connection of a SQLite store, on a thread of its own.
actor SQLiteReader: RecordStore {
  private let file: SQLiteFile
  let clock: @Sendable () -> Int64
  private nonisolated let thread: BlockingThread

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  init(path: String, clock: @escaping @Sendable () -> Int64) async throws(StoreFailure) {
    thread = BlockingThread(name: "sqlite-read")
    self.clock = clock
    do { file = try SQLiteFile(path: path, readOnly: true) } catch { throw StoreFailure(error) }
  }

  func rows(_ sql: StaticString, _ values: [SQLiteValue] = []) throws(StoreFailure) -> [SQLiteRow] {
    do { return try file.run(sql, values) } catch { throw StoreFailure(error) }
  }

  func schemaVersion() throws(StoreFailure) -> Int {
    let rows = try rows("pragma user_version")
    do { return Int(try rows.first?.integer(0) ?? 0) } catch { throw StoreFailure(error) }
  }

  func challenge(id: String) throws(StoreFailure) -> StoredChallenge? {
    let rows = try rows(
      "select host_fingerprint, proof_digest, consumed_at is null and expires_at >= ? from push_challenges where challenge_id = ?",
      [.integer(clock()), .text(id)])
    do {
      guard let row = rows.first, let fingerprint = HostFingerprint(try row.text(0)) else { return nil }
      return StoredChallenge(fingerprint: fingerprint, proofDigest: try row.blob(1), isOpen: try row.integer(2) != 0)
    } catch { throw StoreFailure(error) }
  }

  func sessions(tokenDigests: [[UInt8]]) throws(StoreFailure) -> [SessionStanding] {
    var standings: [SessionStanding] = []
    for digest in tokenDigests { standings.append(try session(tokenDigest: digest)) }
    return standings
  }

  private func session(tokenDigest: [UInt8]) throws(StoreFailure) -> SessionStanding {
    let rows = try rows(
      """
      select s.host_no, h.fingerprint, s.expires_at from push_sessions s join push_hosts h using (host_no)
       where s.token_digest = ?
      """, [.blob(tokenDigest)])
    do {
      guard let row = rows.first, let fingerprint = HostFingerprint(try row.text(1)) else { return .unknown }
      let remaining = try row.integer(2) - clock()
      if remaining <= 0 { return .expired }
      return .active(Host(number: try row.integer(0), fingerprint: fingerprint), remaining: remaining)
    } catch { throw StoreFailure(error) }
  }

  func devices(of host: Host) throws(StoreFailure) -> [DeviceListing] {
    let rows = try rows(
      """
      select registration_id, device_id, route, dead_at is not null from push_devices
       where host_no = ? order by created_at, device_no limit 1024
      """, [.integer(host.number)])
    do {
      return try rows.map { row in
        DeviceListing(
          registrationId: try row.text(0), deviceId: try row.text(1),
          platform: Route(rawValue: Int16(clamping: try row.integer(2)))?.platform ?? .ios,
          isDead: try row.integer(3) != 0)
      }
    } catch { throw StoreFailure(error) }
  }

  /// Whether no batch of the route is due.
  func isIdle(_ route: Route, now: Int64) throws(StoreFailure) -> Bool {
    try rows(
      "select 1 from push_delivery_batches where route = ? and visible_at <= ? limit 1",
      [.integer(Int64(route.rawValue)), .integer(now)]
    ).isEmpty
  }

  func depth() throws(StoreFailure) -> QueueDepth {
    let now = clock()
    let rows = try rows(
      """
      select coalesce(sum(length(devices) - length(replace(devices, ',', '')) + 1), 0),
             coalesce(max(case when visible_at <= ?1 then ?1 - visible_at end), 0) from push_delivery_batches
      """, [.integer(now)])
    do {
      guard let row = rows.first else { return QueueDepth(deliveries: 0, oldestDue: 0) }
      return QueueDepth(deliveries: try row.integer(0), oldestDue: try row.integer(1))
    } catch { throw StoreFailure(error) }
  }
}
