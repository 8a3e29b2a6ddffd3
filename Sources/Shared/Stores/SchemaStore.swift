/// Numbered, forward-only schema steps (rulings 7).
package protocol SchemaStore: Sendable {
  /// The newest step that the database has had; 0 for an empty one.
  func schemaVersion() async throws(StoreFailure) -> Int
  /// Brings the schema up to `Schema.version`. Safe to run twice, and while another does.
  /// - Returns: the steps that this call took.
  func migrate() async throws(StoreFailure) -> [Int]
  /// Whether the database answers, for `/ready`.
  func ping() async throws(StoreFailure)
}

/// Everything that one database keeps for the gateway.
package protocol Store: SessionStore, DeviceStore, EventStore, DeliveryStore, RecordStore, HousekeepingStore,
  SchemaStore
{}
