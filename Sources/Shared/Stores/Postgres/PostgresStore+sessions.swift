package import Contract
internal import Postgres

extension PostgresStore {
  private static let save = PostgresStatement(
    """
    insert into push_challenges (expires_at, challenge_id, host_fingerprint, proof_digest)
      values (push_now_ms() + $1, $2, $3, $4)
    """)
  private static let find = PostgresStatement(
    """
    select host_fingerprint, proof_digest, consumed_at is null and expires_at >= push_now_ms()
      from push_challenges where challenge_id = $1
    """)
  private static let open = PostgresStatement("select push_open_session_v1($1, $2, $3)")
  private static let lookUp = PostgresStatement(
    """
    select s.host_no, h.fingerprint, s.expires_at - push_now_ms(), u.place
      from unnest($1::bytea[]) with ordinality u(digest, place)
      join push_sessions s on s.token_digest = u.digest join push_hosts h on h.host_no = s.host_no
    """)

  package func saveChallenge(
    id: String, fingerprint: HostFingerprint, proofDigest: [UInt8]
  ) async throws(StoreFailure) {
    try await run(
      Self.save, [.int8(Limits.challengeLife), .text(id), .text(fingerprint.text), .bytes(proofDigest)]
    ) { _ throws(PostgresFailure) in }
  }

  package func challenge(id: String) async throws(StoreFailure) -> StoredChallenge? {
    try await run(Self.find, [.text(id)]) { rows throws(PostgresFailure) in
      guard rows.count == 1, let fingerprint = HostFingerprint(try rows.text(0, 0)) else { return nil }
      return StoredChallenge(
        fingerprint: fingerprint, proofDigest: try rows.bytes(0, 1), isOpen: try rows.bool(0, 2))
    }
  }

  package func openSession(challengeId: String, tokenDigest: [UInt8]) async throws(StoreFailure) -> Int64? {
    try await run(
      Self.open, [.text(challengeId), .bytes(tokenDigest), .int8(Limits.sessionLife)]
    ) { rows throws(PostgresFailure) in try rows.optionalInt8(0, 0) }
  }

  package func sessions(tokenDigests: [[UInt8]]) async throws(StoreFailure) -> [SessionStanding] {
    try await run(Self.lookUp, [.bytesArray(tokenDigests)]) { rows throws(PostgresFailure) in
      var standings = [SessionStanding](repeating: .unknown, count: tokenDigests.count)
      for row in 0..<rows.count {
        let place = Int(try rows.int8(row, 3)) - 1
        guard standings.indices.contains(place), let name = HostFingerprint(try rows.text(row, 1)) else { continue }
        let host = Host(number: try rows.int8(row, 0), fingerprint: name)
        let remaining = try rows.int8(row, 2)
        standings[place] = remaining > 0 ? .active(host, remaining: remaining) : .expired
      }
      return standings
    }
  }
}
