package import Contract

extension SQLiteStore {
  package nonisolated func records(of host: Host, events: [[UInt8]]) async throws(StoreFailure) -> [DeliveryRecord] {
    try await reader.records(of: host, events: events)
  }

  package nonisolated func hosts(prefix: String, limit: Int) async throws(StoreFailure) -> [Host] {
    try await reader.hosts(prefix: prefix, limit: limit)
  }
}
