package import Contract

/// A challenge that was given out (contract, "Host authentication").
package struct StoredChallenge: Sendable, Equatable {
  package let fingerprint: HostFingerprint
  /// SHA-256 of the proof that would be right.
  package let proofDigest: [UInt8]
  /// Neither spent nor past its 10 s, by the store's clock.
  package let isOpen: Bool
}

/// What a bearer token turns out to be (rulings 2.3).
package enum SessionStanding: Sendable, Equatable {
  /// Good for `remaining` ms more.
  case active(Host, remaining: Int64)
  case expired
  /// Never given out, or superseded by a newer one, or pruned.
  case unknown
}

/// Challenges and sessions. One session a host, whatever races (contract, "Gateway storage").
package protocol SessionStore: Sendable {
  /// Keeps a challenge for 10 s from now.
  func saveChallenge(id: String, fingerprint: HostFingerprint, proofDigest: [UInt8]) async throws(StoreFailure)

  func challenge(id: String) async throws(StoreFailure) -> StoredChallenge?

  /// Spends the challenge and gives its host a session, in one transaction; the host's earlier session ends.
  /// Nil when the challenge is spent, late or gone: of two that come at once, one wins.
  /// - Returns: when the session ends, Unix ms.
  func openSession(challengeId: String, tokenDigest: [UInt8]) async throws(StoreFailure) -> Int64?

  /// What these bearers are, in the order given; asked together, at the price of one.
  func sessions(tokenDigests: [[UInt8]]) async throws(StoreFailure) -> [SessionStanding]
}
