internal import Contract
internal import Keys
internal import Stores

extension Admission {
  /// A host's send as the store takes it.
  init(_ request: SendRequest, from host: Host) {
    let notification = request.notification
    self.init(
      host: host, registrationIds: request.registrationIds, kind: notification.kind, seq: notification.seq,
      eventKey: EventKeys.event(notification), fenceKey: EventKeys.fence(notification),
      contentDigest: EventKeys.content(notification), payload: notification.stored,
      isSilent: notification.sound == false, expiresAt: notification.expiresAt)
  }
}

/// Short names for what a host identifies by longer ones: the first 16 bytes of SHA-256 over an encoding in which no two
/// different identities look alike. Stored, so never to be changed.
enum EventKeys {
  /// Stands for (kind, epoch, seq) (rulings 4.1).
  static func event(_ notification: Notification) -> [UInt8] {
    key("push-event/v1", fixed: [notification.kind == .alert ? 1 : 2] + bigEndian(notification.seq), notification.epoch)
  }

  /// Stands for (epoch, notificationId), which a dismissal and its alert share; nil without an id (rulings 5.1).
  static func fence(_ notification: Notification) -> [UInt8]? {
    guard let id = notification.notificationId else { return nil }
    return key("push-fence/v1", fixed: bigEndian(Int64(notification.epoch.utf8.count)), notification.epoch + id)
  }

  /// Stands for what two events of one identity are compared by.
  static func content(_ notification: Notification) -> [UInt8] {
    Array(Sha256.digest(notification.content).prefix(16))
  }

  private static func key(_ purpose: String, fixed: [UInt8], _ text: String) -> [UInt8] {
    Array(Sha256.digest(Array(purpose.utf8) + fixed + Array(text.utf8)).prefix(16))
  }

  private static func bigEndian(_ number: Int64) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
