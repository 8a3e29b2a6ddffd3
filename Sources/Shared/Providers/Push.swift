package import Contract
internal import Keys

/// One notification on its way to one phone: all that a provider's request is made of. An object, as each call on its way
/// keeps it until the answer.
package final class Push: Sendable {
  /// The host's 16 characters (contract, "Identities").
  package let hostFingerprint: String
  package let notification: Notification
  /// The phone asked for no sound from this host. A property of the delivery (rulings 4.2).
  package let isSilent: Bool
  package let route: Route
  /// As the phone gave it: hex for Apple, opaque for Google.
  package let token: String
  /// 16 bytes, as good as random, that name the delivery: the same on every attempt (rulings 6.4).
  package let identity: [UInt8]
  /// The deadline, Unix ms by the store's clock.
  package let expiresAt: Int64
  /// What was left of its life when this was made, in ms. Measured, so that two clocks need not agree.
  package let remaining: Int64
  /// When the phone was last registered, Unix ms by the store's clock.
  package let registeredAt: Int64
  /// A provider has accepted this token before.
  package let isProven: Bool

  package init(
    hostFingerprint: String, notification: Notification, isSilent: Bool, route: Route, token: String,
    identity: [UInt8], expiresAt: Int64, remaining: Int64, registeredAt: Int64, isProven: Bool
  ) {
    self.hostFingerprint = hostFingerprint
    self.notification = notification
    self.isSilent = isSilent
    self.route = route
    self.token = token
    self.identity = identity
    self.expiresAt = expiresAt
    self.remaining = remaining
    self.registeredAt = registeredAt
    self.isProven = isProven
  }

  /// The same, `milliseconds` later.
  func later(_ milliseconds: Int64) -> Push {
    Push(
      hostFingerprint: hostFingerprint, notification: notification, isSilent: isSilent, route: route, token: token,
      identity: identity, expiresAt: expiresAt, remaining: remaining - milliseconds, registeredAt: registeredAt,
      isProven: isProven)
  }

  /// Room for Apple's JSON of it, in bytes, and little more, since a request keeps it until its answer; what needs escapes
  /// takes more.
  var bodySize: Int {
    let texts = notification.title.utf8.count + notification.body.utf8.count + notification.epoch.utf8.count
    let places = (notification.worktreeId?.utf8.count ?? 0) + (notification.paneKey?.utf8.count ?? 0)
    let names = (notification.executionHost?.utf8.count ?? 0) + (notification.notificationId?.utf8.count ?? 0)
    return 352 + texts + places + names
  }

  /// 64 hex digits that give the event one place on a screen (rulings 6.4): Apple's collapse id, Android's tag.
  var collapseId: String { Sha256.hex(CollapseId.text(hostFingerprint: hostFingerprint, notification)) }
}
