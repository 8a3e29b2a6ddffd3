internal import Contract
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
