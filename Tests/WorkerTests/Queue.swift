import Contract
import Keys
import Stores
import Testing

/// What lanes are given to send.
enum Queue {
  /// A host that has proven itself, with one phone; one alert for it is queued.
  static func admitOne(_ store: any Store, token: String = String(repeating: "ab", count: 32)) async throws {
    let fingerprint = try #require(HostFingerprint("AAAAAAAAAAAAAAAA"))
    let bearer = Sha256.digest("bearer")
    try await store.saveChallenge(id: "c", fingerprint: fingerprint, proofDigest: Sha256.digest("proof"))
    _ = try await store.openSession(challengeId: "c", tokenDigest: bearer)
    guard case .active(let host, _) = try await store.sessions(tokenDigests: [bearer]).first else {
      Issue.record("no session")
      return
    }
    let id = try #require(
      try await store.register(host, deviceId: "d", route: .apnsSandbox, token: token, newId: "r"))
    let text =
      #"{"notificationSeq":1,"notificationEpoch":"e","source":"terminal-bell","title":"T","body":"B"}"#
    let notification = try Notification(stored: Array(text.utf8))
    let admitted = try await store.admit([
      Admission(
        host: host, registrationIds: [id], kind: .alert, seq: 1, eventKey: EventKeys.event(notification),
        fenceKey: nil, contentDigest: EventKeys.content(notification), payload: notification.stored, isSilent: false,
        expiresAt: nil)
    ])
    #expect(admitted.results == [[.queued]])
  }
}
