internal import Json

/// What gives one event one place on a screen, however often it is sent (rulings 6.4).
package enum CollapseId {
  /// The JSON text that is hashed: `[hostFingerprint, notificationId]`, or `[hostFingerprint, [epoch, seq]]` without one.
  package static func text(hostFingerprint: String, _ notification: Notification) -> [UInt8] {
    var text = JsonText()
    text.array { text in
      text.string(hostFingerprint)
      if let id = notification.notificationId {
        text.string(id)
      } else {
        text.array { text in
          text.string(notification.epoch)
          text.integer(notification.seq)
        }
      }
    }
    return text.bytes
  }
}
