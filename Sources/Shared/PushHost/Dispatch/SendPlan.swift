internal import Contract

/// Which requests bring a notification to phones: audible ones first, at most 20 phones a request, and a sealed phone in a
/// request of its own. Pure but for the nonces of seals.
struct SendPlan: Sendable {
  /// One request.
  struct Part: Sendable {
    let notification: PushNotification
    var recipients: [Registration]
  }

  var parts: [Part] = []

  init(_ notification: PushNotification, to phones: [Registration]) {
    // Dismissals make no sound anyway.
    let sounds =
      notification.isDismissal
      ? [phones] : [true, false].map { sound in phones.filter { $0.preferences.sound == sound } }
    for (index, group) in sounds.enumerated() {
      var notification = notification
      notification.sound = index == 0 ? nil : false
      let open = group.filter { $0.secret == nil }
      for start in stride(from: 0, to: open.count, by: Limits.registrationsPerSend) {
        let chunk = open[start...].prefix(Limits.registrationsPerSend)
        parts.append(Part(notification: notification, recipients: Array(chunk)))
      }
      for phone in group {
        guard let secret = phone.secret else { continue }
        parts.append(Part(notification: notification.sealed(with: secret), recipients: [phone]))
      }
    }
  }
}
