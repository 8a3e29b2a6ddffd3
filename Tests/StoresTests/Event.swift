import Contract
import Keys

@testable import Stores

/// An event as a test thinks of it.
struct Event: Sendable {
  var kind: Notification.Kind
  var seq: Int64
  var epoch = "epoch"
  var notificationId: String?
  var content = ""
  var isSilent = false
  var expiresAt: Int64?

  static func alert(_ seq: Int64, epoch: String = "epoch", id: String? = nil) -> Event {
    Event(kind: .alert, seq: seq, epoch: epoch, notificationId: id)
  }

  static func dismissal(_ seq: Int64, epoch: String = "epoch", id: String) -> Event {
    Event(kind: .dismiss, seq: seq, epoch: epoch, notificationId: id)
  }

  /// The same with something set.
  func with<Value>(_ member: WritableKeyPath<Event, Value>, _ value: Value) -> Event {
    var event = self
    event[keyPath: member] = value
    return event
  }

  /// What the store hands to whoever claims it, as text.
  var payload: String {
    "\(kind.rawValue) \(epoch) \(seq) \(notificationId ?? "-") \(content) \(expiresAt.map(String.init) ?? "-")"
  }

  func admission(_ host: Host, _ ids: [String]) -> Admission {
    Admission(
      host: host, registrationIds: ids, kind: kind, seq: seq,
      eventKey: Self.digest("event", kind.rawValue, epoch, "\(seq)"),
      fenceKey: notificationId.map { Self.digest("fence", epoch, $0) },
      contentDigest: Self.digest(payload), payload: Array(payload.utf8), isSilent: isSilent, expiresAt: expiresAt)
  }

  private static func digest(_ parts: String...) -> [UInt8] {
    Array(Sha256.digest(parts.joined(separator: "\n")).prefix(16))
  }
}
