package import Contract

/// One send, ready to be admitted (contract, "Send").
package struct Admission: Sendable {
  package let host: Host
  /// 1 to 20, no repeats.
  package let registrationIds: [String]
  package let kind: Notification.Kind
  package let seq: Int64
  /// 16 bytes that stand for (kind, epoch, seq) within the host.
  package let eventKey: [UInt8]
  /// 16 bytes that stand for (epoch, notificationId) within the host; nil without a notificationId.
  package let fenceKey: [UInt8]?
  /// 16 bytes that stand for the content (rulings 4.1).
  package let contentDigest: [UInt8]
  /// `Notification.stored`.
  package let payload: [UInt8]
  /// No sound at these phones.
  package let isSilent: Bool
  /// The host's own deadline, Unix ms.
  package let expiresAt: Int64?

  package init(
    host: Host, registrationIds: [String], kind: Notification.Kind, seq: Int64, eventKey: [UInt8], fenceKey: [UInt8]?,
    contentDigest: [UInt8], payload: [UInt8], isSilent: Bool, expiresAt: Int64?
  ) {
    self.host = host
    self.registrationIds = registrationIds
    self.kind = kind
    self.seq = seq
    self.eventKey = eventKey
    self.fenceKey = fenceKey
    self.contentDigest = contentDigest
    self.payload = payload
    self.isSilent = isSilent
    self.expiresAt = expiresAt
  }
}

/// The answer for one registration; the raw value is what the wire says.
package enum SendResult: String, Sendable, CaseIterable {
  case queued
  case dead
  case rateLimited = "rate_limited"
  case error
}

/// What became of a group of sends.
package struct Admitted: Sendable {
  /// Of each send, one answer for each of its registrations, in order.
  package let results: [[SendResult]]
  /// Routes that have something new to deliver, or may have; none when nothing was queued.
  package let routes: Set<Route>

  package init(results: [[SendResult]], routes: Set<Route>) {
    self.results = results
    self.routes = results.contains { $0.contains(.queued) } ? routes : []
  }
}

/// Admits events (rulings 4 and 5).
package protocol EventStore: Sendable {
  /// Admits each send by itself, all in one transaction, and returns after the commit: "queued" is durable.
  ///
  /// The results at `i` hold one answer for each of `sends[i].registrationIds`, in order. When it throws, nothing of any of
  /// them is stored (or, with `.unknown`, all may be): the caller then tries them one by one, so that a send that the
  /// database refuses does not fail its neighbours. At most 64 sends.
  func admit(_ sends: [Admission]) async throws(StoreFailure) -> Admitted
}
