import Contract
import Json

/// Bodies of the contract's requests: what is taken keeps the contract's bounds, and a notification reads back from its
/// stored form as it was.
enum RequestBodies: Target {
  static func run(_ bytes: [UInt8]) {
    guard let body = try? JsonReader.read(bytes) else { return }
    if let request = try? ChallengeRequest(body) { require(request.hostPublicKey.count == 32, "the key's length") }
    if let request = try? SessionRequest(body) {
      require(request.proof.count == 32 && OpaqueId.isValid(request.challengeId), "the proof")
    }
    if let request = try? DeviceRequest(body) {
      require(OpaqueId.isValid(request.deviceId), "the device id")
      require((1...4_096).contains(request.token.utf8.count), "the token's length")
      require(!request.token.utf8.contains { $0 <= 0x20 || $0 >= 0x7f }, "the token \(request.token.debugDescription)")
    }
    if let request = try? SendRequest(body) {
      require((1...Limits.registrationsPerSend).contains(request.registrationIds.count), "the number of ids")
      require(request.registrationIds.allSatisfy(OpaqueId.isValid), "the ids")
      check(request.notification)
    }
  }

  private static func check(_ notification: Notification) {
    require((1...Limits.title).contains(notification.title.utf16.count), "the title's length")
    require(notification.body.utf16.count <= Limits.body, "the body's length")
    require((0...Limits.integer).contains(notification.seq), "the number")
    require(notification.kind == .alert || notification.notificationId != nil, "a dismissal of nothing")
    let stored = notification.stored
    // An absent sound or null takes room in the request that the stored form does not need.
    require(stored.count <= Limits.notificationBytes, "\(stored.count) bytes are stored")
    guard let again = try? Notification(stored: stored) else { return require(false, "it cannot be read back") }
    require(again.stored == stored && again.content == notification.content, "it is stored otherwise: \(stored.text)")
    require(again.sound == nil && again.expiresAt == notification.expiresAt, "what is no content")
  }
}
