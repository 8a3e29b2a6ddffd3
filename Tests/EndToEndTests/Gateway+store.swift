import Foundation
import Json
import Testing

/// The store as its administrator sees it.
extension Gateway {
  /// What a query of one column yields; nothing of it may hold a line break.
  func rows(_ sql: String) async throws -> [String] {
    let program: Program
    if let url = store["ORCA_PUSH_DATABASE_URL"] {
      // What follows the `?` is for the gateway's programs.
      let plain = String(url.prefix { $0 != "?" })
      program = try Program("psql", running: ["psql", "-XAtq", plain, "-c", sql])
    } else {
      let file = try #require(store["ORCA_PUSH_DATA_DIR"]) + "/push.sqlite3"
      let query = """
        import sqlite3, sys
        store = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
        for row in store.execute(sys.argv[2]): print("" if row[0] is None else row[0])
        """
      program = try Program("sqlite", running: ["python3", "-c", query, file, sql])
    }
    let rows = await program.rest()
    #expect(await program.stop() == 0, "\(sql)")
    return rows
  }

  /// Asks until the rows are as wanted, 1000 times at most; the rows. Nobody tells when a row of the store changes.
  @discardableResult
  func await(_ what: String, _ sql: String, _ isThere: ([String]) -> Bool) async throws -> [String] {
    var rows: [String] = []
    for _ in 0..<1_000 {
      rows = try await self.rows(sql)
      if isThere(rows) { return rows }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("\(what) never came about: \(rows)")
    return rows
  }

  /// Waits until nothing waits in the queue.
  func drained() async throws {
    try await self.await("an empty queue", "select count(*) from push_delivery_batches") { $0 == ["0"] }
  }

  /// Waits until one delivery of each of these registrations waits for another attempt after `attempts`; when those are
  /// due, in Unix ms.
  func retries(_ registrations: [String], after attempts: Int = 1) async throws -> [String: Int64] {
    let first = store["ORCA_PUSH_DATABASE_URL"] == nil ? "cast(b.devices as integer)" : "b.devices[1]"
    let ids = registrations.map { "'\($0)'" }.joined(separator: ",")
    let rows = try await self.await(
      "\(registrations.count) retries",
      """
      select d.registration_id || '|' || b.visible_at from push_delivery_batches b
        join push_devices d on d.device_no = \(first)
       where b.owner is null and b.attempts = \(attempts) and d.registration_id in (\(ids))
      """
    ) { $0.count == registrations.count }
    return Dictionary(
      uniqueKeysWithValues: rows.map { row in
        let cells = row.split(separator: "|").map(String.init)
        return (cells[0], Int64(cells[1]) ?? 0)
      })
  }

  /// Makes every waiting attempt due now.
  func hastenRetries() async throws {
    _ = try await rows("update push_delivery_batches set visible_at = \(Self.now) where owner is null and attempts > 0")
  }

  /// Unix ms.
  static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  /// How each delivery ended, as the store remembers it.
  func outcomes() async throws -> [Outcome] {
    try await rows(
      """
      select d.registration_id || '|' || e.seq || '|' || coalesce(r.outcome, 0) || '|' || coalesce(r.detail, '')
        from push_event_recipients r
        join push_events e on e.host_no = r.host_no and e.kind = r.kind and e.number = r.number
        join push_devices d on d.device_no = r.device_no
      """
    ).map { row in
      let cells = row.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
      return Outcome(registration: cells[0], seq: cells[1], state: Outcome.states[Int(cells[2]) ?? 0], detail: cells[3])
    }
  }

  /// How a delivery ended.
  struct Outcome {
    static let states = ["open", "sent", "dead", "failed", "expired", "cancelled"]
    let registration: String
    /// The event's number.
    let seq: String
    /// `open` while it has not ended.
    let state: String
    /// The provider's id or reason.
    let detail: String
  }
}
