internal import Contract

/// The notification that was read last, for those of its phones that come after: a batch's deliveries carry one payload and
/// are mostly sent one after another, and to read it costs as much as to write a request.
struct LastNotification {
  private var payload: [UInt8] = []
  private var notification: Notification?

  /// What a stored payload says; nil when it cannot be read.
  mutating func notification(in payload: [UInt8]) -> Notification? {
    if payload != self.payload {
      self.payload = payload
      notification = try? Notification(stored: payload)
    }
    return notification
  }
}
