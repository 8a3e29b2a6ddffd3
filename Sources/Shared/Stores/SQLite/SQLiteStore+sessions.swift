package import Contract
internal import SQLite

extension SQLiteStore {
  package nonisolated func saveChallenge(
    id: String, fingerprint: HostFingerprint, proofDigest: [UInt8]
  ) async throws(StoreFailure) {
    try await write { [clock] file in
      _ = try file.run(
        "insert into push_challenges (challenge_id, host_fingerprint, proof_digest, expires_at) values (?, ?, ?, ?)",
        [.text(id), .text(fingerprint.text), .blob(proofDigest), .integer(clock() + Limits.challengeLife)])
    }
  }

  package nonisolated func challenge(id: String) async throws(StoreFailure) -> StoredChallenge? {
    try await reader.challenge(id: id)
  }

  package nonisolated func openSession(challengeId: String, tokenDigest: [UInt8]) async throws(StoreFailure) -> Int64? {
    try await write { [clock] file in
      let now = clock()
      let spent = try file.run(
        """
        update push_challenges set consumed_at = ?1
         where challenge_id = ?2 and consumed_at is null and expires_at >= ?1 returning host_fingerprint
        """, [.integer(now), .text(challengeId)])
      guard let fingerprint = try spent.first?.text(0) else { return nil }
      _ = try file.run("insert into push_hosts (fingerprint) values (?) on conflict do nothing", [.text(fingerprint)])
      _ = try file.run(
        """
        insert into push_sessions (host_no, token_digest, expires_at, created_at)
          values ((select host_no from push_hosts where fingerprint = ?), ?, ?, ?)
          on conflict (host_no) do update set token_digest = excluded.token_digest, expires_at = excluded.expires_at,
            created_at = excluded.created_at
        """, [.text(fingerprint), .blob(tokenDigest), .integer(now + Limits.sessionLife), .integer(now)])
      return now + Limits.sessionLife
    }
  }

  package nonisolated func sessions(tokenDigests: [[UInt8]]) async throws(StoreFailure) -> [SessionStanding] {
    try await reader.sessions(tokenDigests: tokenDigests)
  }
}
