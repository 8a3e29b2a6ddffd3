package import Contract

/// What became of deliveries, for whoever asks (rulings 6.11). Reads alone, and waits for no writer.
package protocol RecordStore: Sendable {
  /// The deliveries of this host's events with these keys (`EventKeys.event`), by kind and oldest registration first; at
  /// most 1,024. Empty when the host has no such event, or had it more than 24 hours ago.
  func records(of host: Host, events: [[UInt8]]) async throws(StoreFailure) -> [DeliveryRecord]

  /// Hosts whose fingerprint begins so; at most `limit`.
  /// - Parameter prefix: of the base64url alphabet.
  func hosts(prefix: String, limit: Int) async throws(StoreFailure) -> [Host]
}

/// Most records that one answer holds.
enum RecordLimit {
  static let most = 1_024
}
