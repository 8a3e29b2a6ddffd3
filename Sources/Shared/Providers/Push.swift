package import Contract
internal import Keys

/// One notification on its way to one phone: all that a provider's request is made of.
package struct Push: Sendable {
  /// The host's 16 characters (contract, "Identities").
  package var hostFingerprint: String
  package var notification: Notification
  /// The phone asked for no sound from this host. A property of the delivery (rulings 4.2).
  package var isSilent: Bool
  package var route: Route
  /// As the phone gave it: hex for Apple, opaque for Google.
  package var token: String
  /// 16 bytes, as good as random, that name the delivery: the same on every attempt (rulings 6.4).
  package var identity: [UInt8]
  /// The deadline, Unix ms by the store's clock.
  package var expiresAt: Int64
  /// What was left of its life when this was made, in ms. Measured, so that two clocks need not agree.
  package var remaining: Int64
  /// When the phone was last registered, Unix ms by the store's clock.
  package var registeredAt: Int64
  /// A provider has accepted this token before.
  package var isProven: Bool

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

  /// 64 hex digits that give the event one place on a screen (rulings 6.4): Apple's collapse id, Android's tag.
  var collapseId: String { Sha256.hex(CollapseId.text(hostFingerprint: hostFingerprint, notification)) }
}
