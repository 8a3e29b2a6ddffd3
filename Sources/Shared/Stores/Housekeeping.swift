/// What the janitor does to the store (rulings 7). Each call is one short transaction over at most `limit` rows that skips
/// what others hold.
package protocol HousekeepingStore: Sendable {
  /// Takes one step. Call again while `Swept.isFull`.
  func sweep(_ step: SweepStep, limit: Int) async throws(StoreFailure) -> Swept
}

/// The steps of a sweep, in their order.
package enum SweepStep: String, Sendable, CaseIterable {
  /// 30 s after their expiry.
  case challenges
  /// 10 min after their expiry.
  case sessions
  /// Deliveries past their deadline that nobody holds expire.
  case deliveries
  /// Payloads of events whose deliveries have all ended are emptied; the identity stays.
  case payloads
  /// Events and their recipients go after 24 hours.
  case events
  /// Fences of dismissals go after 24 hours.
  case fences
  /// Ids of deleted registrations, which records name, go after 24 hours.
  case forgotten
}

/// What one step took.
package struct Swept: Sendable, Equatable {
  /// Rows by table name, as metrics and the report call them.
  package var rows: [String: Int]
  /// There may be more.
  package var isFull: Bool

  package init(rows: [String: Int], isFull: Bool) {
    self.rows = rows
    self.isFull = isFull
  }
}
