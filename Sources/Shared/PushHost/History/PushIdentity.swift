internal import Contract

/// What tells one push from all others, on a phone's screen and here. No text, no token.
public struct PushIdentity: Equatable, Hashable, Sendable {
  /// What it is about.
  public let notificationId: String
  /// The run of the host's counter.
  public let epoch: String
  /// Its number within the epoch.
  public let seq: Int64

  /// As the host sent it.
  public init(notificationId: String, epoch: String, seq: Int64) {
    self.notificationId = notificationId
    self.epoch = epoch
    self.seq = seq
  }
}

extension PushIdentity {
  /// Whether the contract allows such a push.
  var isPossible: Bool {
    (1...Limits.routingText).contains(notificationId.utf8.count)
      && notificationId.utf8.allSatisfy { (0x20...0x7e).contains($0) } && OpaqueId.isValid(epoch)
      && (0...Limits.integer).contains(seq)
  }
}
