/// What is known of one delivery: an event on its way to one registration (rulings 6.11). Kept for 24 hours after the event
/// was accepted; holds neither text nor token.
package struct DeliveryRecord: Sendable, Equatable {
  /// Raw values are the wire's words.
  package enum State: String, Sendable, CaseIterable {
    /// In the queue, due.
    case pending
    /// In the queue, due again at `nextAttemptAt`.
    case waiting
    /// A worker has it: on its way, or in line behind another delivery of the same registration.
    case sending
    /// The provider accepted it.
    case sent
    /// The provider called the token dead.
    case dead
    /// The provider refused it for good.
    case failed
    /// Its deadline came first.
    case expired
    /// Not to be sent any more: `reason` says why.
    case cancelled
  }

  /// What a delivery that has not ended waits for.
  package enum Wait: String, Sendable, CaseIterable {
    /// A worker with room for it.
    case worker
    /// Deliveries of the same host that a worker has under way: one at a time goes to a phone.
    case turn
    /// The time of its next attempt.
    case retry
    /// A credential or a configuration that the provider takes: an operator must mend it.
    case credential
  }

  package var kind: Notification.Kind
  /// Nil where a registration was deleted by a build that did not keep its id.
  package var registrationId: String?
  /// The way that it takes or took; nil where nothing tells any more.
  package var route: Route?
  package var state: State
  package var waitsFor: Wait?
  /// Why it ended, unless it was sent; while it waits, why the last attempt came to nothing. The provider's own word, or
  /// one of the gateway's (`DeliveryReason`). At most 200 characters of printable ASCII.
  package var reason: String?
  /// Of a delivery that has ended: why an attempt before the last was to be repeated.
  package var retryReason: String?
  /// Attempts that count: those that the provider saw or may have seen.
  package var attempts: Int
  /// Attempts after which nobody knows whether the provider took it: the connection broke once it had gone out, or an
  /// answer of Google's left it open.
  package var unknownOutcomes: Int
  /// The provider's id of what it accepted: an `apns-id`, or the name of an FCM message.
  package var providerId: String?
  /// Times in Unix ms by the store's clock.
  package var queuedAt: Int64
  /// When the outcome of the last attempt was recorded.
  package var lastAttemptAt: Int64?
  package var nextAttemptAt: Int64?
  package var finishedAt: Int64?
  package var deadline: Int64

  package init(
    kind: Notification.Kind, registrationId: String?, route: Route?, state: State, waitsFor: Wait? = nil,
    reason: String? = nil, retryReason: String? = nil, attempts: Int = 0, unknownOutcomes: Int = 0,
    providerId: String? = nil, queuedAt: Int64, lastAttemptAt: Int64? = nil, nextAttemptAt: Int64? = nil,
    finishedAt: Int64? = nil, deadline: Int64
  ) {
    self.kind = kind
    self.registrationId = registrationId
    self.route = route
    self.state = state
    self.waitsFor = waitsFor
    self.reason = reason
    self.retryReason = retryReason
    self.attempts = attempts
    self.unknownOutcomes = unknownOutcomes
    self.providerId = providerId
    self.queuedAt = queuedAt
    self.lastAttemptAt = lastAttemptAt
    self.nextAttemptAt = nextAttemptAt
    self.finishedAt = finishedAt
    self.deadline = deadline
  }
}

/// Reasons that are the gateway's own and no provider's. Raw values are stored and are the wire's words.
package enum DeliveryReason: String, Sendable, CaseIterable {
  /// A dismissal of its notificationId with the same or a later seq.
  case dismissed
  /// Its registration was deleted.
  case deleted
  /// The provider had called its registration's token dead before its turn came.
  case tokenDead = "token_dead"
  /// Its registration was moved to another provider or environment.
  case moved
  /// Its deadline passed.
  case deadline

  /// How the reason of a delivery begins that waits for a credential: one that works, where the provider's word follows.
  package static let parked = "parked: "
  /// The reason of a delivery on a route that no worker is known to have a credential for.
  package static let lacksCredential = parked + "no credential"
}
