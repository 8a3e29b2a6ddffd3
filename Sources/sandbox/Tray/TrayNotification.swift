internal import Json

/// One notification on a phone's screen.
struct TrayNotification: Sendable {
  let title: String
  let subtitle: String?
  let body: String
  let isSilent: Bool
  /// Notifications of the same id take each other's place.
  let collapseId: String?
  /// When it came, in ms since 1970.
  let time: Int64
  /// Which event it tells of.
  let identity: OrcaIdentity?
  /// What the app was given beside the texts.
  let orca: JsonValue?
  /// How often it has taken the place of one before.
  var replaced = 0

  func write(_ text: inout JsonText) {
    text.object { text in
      text.member("title", title)
      text.member("subtitle", ifPresent: subtitle)
      text.member("body", body)
      text.member("silent", isSilent)
      text.member("collapseId", ifPresent: collapseId)
      text.member("time", time)
      text.member("replaced", replaced)
      if let orca { text.member("orca", orca) }
    }
  }
}

/// What tells one event of a host from another on a phone.
struct OrcaIdentity: Sendable, Equatable {
  let hostFingerprint: String
  let epoch: String
  let notificationId: String?
  let seq: Int64

  /// Reads Apple's `orca` object, or FCM's `data`, where numbers are texts.
  init?(_ orca: JsonValue?) {
    guard let host = orca?["hostFingerprint"]?.string, let epoch = orca?["notificationEpoch"]?.string,
      let seq = orca?["notificationSeq"]?.integer ?? orca?["notificationSeq"]?.string.flatMap(Int64.init)
    else { return nil }
    hostFingerprint = host
    self.epoch = epoch
    self.seq = seq
    notificationId = orca?["notificationId"]?.string
  }

  /// Whether a dismissal of this identity takes `other` away.
  func dismisses(_ other: OrcaIdentity) -> Bool {
    notificationId != nil && other.notificationId == notificationId && other.hostFingerprint == hostFingerprint
      && other.epoch == epoch && other.seq <= seq
  }
}
