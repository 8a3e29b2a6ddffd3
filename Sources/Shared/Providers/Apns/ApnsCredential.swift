package import Keys

/// What proves to Apple who sends: a signing key of a developer team.
package struct ApnsCredential: Sendable {
  /// Apple's 10 characters for the key.
  package let keyId: String
  /// Apple's 10 characters for the team.
  package let teamId: String
  package let key: Es256Key

  package init(keyId: String, teamId: String, key: Es256Key) {
    self.keyId = keyId
    self.teamId = teamId
    self.key = key
  }

  /// A provider token that says it was made at `issuedAt` (Unix seconds). Takes about 30 us.
  func token(issuedAt: Int64) throws(KeyFault) -> String {
    try WebToken.es256(keyId: keyId, teamId: teamId, issuedAt: issuedAt, key: key)
  }
}
