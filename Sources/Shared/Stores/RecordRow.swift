internal import Contract

/// One recipient as both databases keep it, and what that comes to. Pure.
struct RecordRow {
  var kind: Notification.Kind
  var registrationId: String?
  var route: Route?
  /// Nil until it has ended.
  var outcome: Outcome?
  /// The provider's id or reason, or the cause of a cancellation.
  var detail: String?
  var doneAt: Int64?
  var queuedAt: Int64
  var triedAt: Int64?
  /// As the queue keeps them; nil where a build ended it that kept no count.
  var attempts: Int?
  var unknowns: Int
  var lastReason: String?
  var expiresAt: Int64
  /// Of its row in the queue.
  var visibleAt: Int64?
  var isOwned: Bool
  /// When its registration was deleted; nil while there is one.
  var deletedAt: Int64?
  /// A worker has deliveries of the same host and route.
  var isBehind: Bool
  /// The store's clock.
  var now: Int64

  var record: DeliveryRecord {
    var record = DeliveryRecord(
      kind: kind, registrationId: registrationId, route: route, state: .pending,
      attempts: RetryCount(stored: attempts ?? leastAttempts).attempts, unknownOutcomes: unknowns, queuedAt: queuedAt,
      lastAttemptAt: triedAt, deadline: expiresAt)
    if let outcome {
      end(&record, outcome)
    } else {
      wait(&record)
    }
    return record
  }

  /// What ends by a provider's answer had an attempt.
  private var leastAttempts: Int {
    switch outcome {
    case .sent, .dead, .failed: 1
    case .expired, .cancelled, nil: 0
    }
  }

  private func end(_ record: inout DeliveryRecord, _ outcome: Outcome) {
    record.finishedAt = doneAt
    record.retryReason = lastReason
    switch outcome {
    case .sent:
      record.state = .sent
      record.providerId = detail
    case .dead, .failed, .cancelled:
      record.state = outcome == .dead ? .dead : outcome == .failed ? .failed : .cancelled
      record.reason = detail
    case .expired where deletedAt.map { $0 <= doneAt ?? now } == true: cancel(&record)
    case .expired:
      record.state = .expired
      record.reason = DeliveryReason.deadline.rawValue
    }
  }

  /// A registration that was deleted never comes back, so what waits for it is cancelled, even if no worker comes by to write
  /// that down before the deadline does.
  private func cancel(_ record: inout DeliveryRecord) {
    record.state = .cancelled
    record.reason = DeliveryReason.deleted.rawValue
  }

  private func wait(_ record: inout DeliveryRecord) {
    record.reason = lastReason
    let due = visibleAt ?? now
    if due > now, isOwned {
      record.state = .sending
    } else if deletedAt != nil {
      cancel(&record)
      record.retryReason = lastReason
    } else if expiresAt <= now {
      // Nobody will send it any more; whoever comes by next writes that down.
      record.state = .expired
      record.reason = DeliveryReason.deadline.rawValue
      record.retryReason = lastReason
    } else if due > now {
      record.state = .waiting
      record.nextAttemptAt = due
      record.waitsFor = .retry
    } else if lastReason?.hasPrefix(DeliveryReason.parked) == true {
      record.waitsFor = .credential
    } else {
      record.waitsFor = isBehind ? .turn : .worker
    }
  }
}
