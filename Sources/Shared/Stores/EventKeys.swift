package import Contract
internal import Keys

/// Short names for what a host identifies by longer ones: the first 16 bytes of SHA-256 over an encoding in which no two
/// different identities look alike. Stored, so never to be changed.
package enum EventKeys {
  /// Stands for (kind, epoch, seq) (rulings 4.1).
  package static func event(_ notification: Notification) -> [UInt8] {
    event(kind: notification.kind, epoch: notification.epoch, seq: notification.seq)
  }

  /// The same, of an event that is only named.
  package static func event(kind: Notification.Kind, epoch: String, seq: Int64) -> [UInt8] {
    key("push-event/v1", fixed: [kind == .alert ? 1 : 2] + bigEndian(seq), epoch)
  }

  /// Stands for (epoch, notificationId), which a dismissal and its alert share; nil without an id (rulings 5.1).
  package static func fence(_ notification: Notification) -> [UInt8]? {
    guard let id = notification.notificationId else { return nil }
    return key("push-fence/v1", fixed: bigEndian(Int64(notification.epoch.utf8.count)), notification.epoch + id)
  }

  /// Stands for what two events of one identity are compared by.
  package static func content(_ notification: Notification) -> [UInt8] {
    Array(Sha256.digest(notification.content).prefix(16))
  }

  private static func key(_ purpose: String, fixed: [UInt8], _ text: String) -> [UInt8] {
    Array(Sha256.digest(Array(purpose.utf8) + fixed + Array(text.utf8)).prefix(16))
  }

  private static func bigEndian(_ number: Int64) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
