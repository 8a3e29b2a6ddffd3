import Contract
import Keys
import Stores
import Testing

/// What lanes are given to send.
enum Queue {
  /// One alert waits for the one phone of a new host.
  static func admitOne(_ store: any Store) async throws { try await admit(store, try await host(store)) }

  /// A host that has proven itself, with one phone `name`.
  static func host(_ store: any Store, _ name: String = "A") async throws -> Host {
    let fingerprint = try #require(HostFingerprint(String(repeating: name, count: 16)))
    let bearer = Sha256.digest(name)
    try await store.saveChallenge(id: name, fingerprint: fingerprint, proofDigest: Sha256.digest("proof"))
    _ = try await store.openSession(challengeId: name, tokenDigest: bearer)
    guard case .active(let host, _) = try await store.sessions(tokenDigests: [bearer]).first else {
      throw NoSession()
    }
    _ = try await store.register(
      host, deviceId: "d", route: .apnsSandbox, token: String(repeating: "ab", count: 32), newId: "r" + name)
    return host
  }

  private struct NoSession: Error {}

  /// One alert of the host for its phone.
  static func admit(_ store: any Store, _ host: Host) async throws {
    let text =
      #"{"notificationSeq":1,"notificationEpoch":"e","source":"terminal-bell","title":"T","body":"B"}"#
    let notification = try Notification(stored: Array(text.utf8))
    let admitted = try await store.admit([
      Admission(
        host: host, registrationIds: try await store.devices(of: host).map(\.registrationId), kind: .alert, seq: 1,
        eventKey: EventKeys.event(notification), fenceKey: nil, contentDigest: EventKeys.content(notification),
        payload: notification.stored, isSilent: false, expiresAt: nil)
    ])
    #expect(admitted.results == [[.queued]])
  }
}
