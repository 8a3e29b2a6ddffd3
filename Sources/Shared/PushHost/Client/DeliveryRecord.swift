internal import Contract
internal import Json

/// How far a push has come on its way to a phone, as the gateway tells it for 24 hours. It holds no text and no token.
public struct DeliveryRecord: Equatable, Sendable {
  /// Whether it is a dismissal's.
  public let isDismissal: Bool
  /// The registration, which may have been deleted since; nil where the gateway does not know it any more.
  public let registrationId: String?
  /// `pending`, `waiting`, `sending`, `sent`, `dead`, `failed`, `expired` or `cancelled`; a later gateway may have more.
  public let state: String
  /// The provider's own word for why it ended, or why the last attempt came to nothing.
  public let reason: String?
  /// What the reason means.
  public let detail: String?
  /// For what it waits: `worker`, `turn`, `retry` or `credential`.
  public let waitsFor: String?
  /// Attempts that the provider saw or may have seen.
  public let attempts: Int64
  /// The provider's id of what it accepted.
  public let providerId: String?
  /// When the gateway committed it, ms since 1970.
  public let queuedAt: Int64
  /// When it ended, ms since 1970; nil while it goes on.
  public let finishedAt: Int64?

  /// Whether nothing more will become of it.
  public var hasEnded: Bool { finishedAt != nil || ["sent", "dead", "failed", "expired", "cancelled"].contains(state) }
}

extension GatewayClient {
  /// What became of an event; empty when the gateway knows of none: never sent, or more than 24 hours ago.
  public func deliveries(of number: EventNumber) async -> Result<[DeliveryRecord], GatewayFault> {
    await outcome { () async throws(GatewayFault) in
      let query = "notificationEpoch=\(Self.escaped(number.epoch))&notificationSeq=\(number.seq)"
      let reply = try await self.ask(HttpCall("GET", "/v1/deliveries?\(query)"))
      if reply.isUnknownEvent { return [] }
      guard let rows = try reply.members()["deliveries"]?.array, rows.count <= 1_024 else {
        throw .unreachable(.garbled)
      }
      var records: [DeliveryRecord] = []
      for row in rows {
        guard let row = row.object else { throw .unreachable(.garbled) }
        records.append(try DeliveryRecord(row))
      }
      return records
    }
  }
}

extension DeliveryRecord {
  fileprivate init(_ row: JsonObject) throws(GatewayFault) {
    isDismissal = try row.text("kind") == "dismiss"
    registrationId = row["registrationId"]?.string
    state = try row.text("state")
    reason = row["reason"]?.string
    detail = row["detail"]?.string
    waitsFor = row["waitsFor"]?.string
    attempts = try row.integer("attempts")
    providerId = row["providerId"]?.string
    queuedAt = try row.integer("queuedAt")
    finishedAt = row["finishedAt"]?.integer
  }
}
