internal import Http
internal import Json
internal import Keys

/// A key that APNs knows a team by.
struct ApnsKey: Sendable {
  /// Apple's 10 characters.
  let id: String
  let verifier: Es256Verifier
  /// Nil for a key that serves both servers.
  var environment: ApnsEnvironment?
}

/// What a good provider token says.
struct ProviderToken: Equatable, Sendable {
  let keyId: String
  /// Seconds since 1970.
  let issuedAt: Int64
  /// The token's own text: tells one from the next.
  let text: String
}

/// Checks the tokens that senders show (Apple, "Establishing a token-based connection to APNs").
struct ProviderTokens: Sendable {
  /// How old a token may be, and how far ahead of the clock, in seconds.
  static let life: Int64 = 3_600

  let teamId: String
  private var keys: [String: ApnsKey] = [:]
  /// From then on (ms since 1970) only this key counts: the others have been revoked.
  var required: (keyId: String, from: Int64)?
  /// Tokens whose signature was right, since a sender shows the same one all the time.
  private var verified: [String: (keyId: String, issuedAt: Int64)] = [:]

  init(teamId: String, keys: [ApnsKey]) {
    self.teamId = teamId
    for key in keys { add(key) }
  }

  /// Adds a key, or replaces the one of the same id.
  mutating func add(_ key: ApnsKey) {
    keys[key.id] = key
    verified = [:]
  }

  /// The token of a request.
  ///
  /// - Parameter now: ms since 1970.
  mutating func check(
    _ headers: HttpHeaders, environment: ApnsEnvironment, now: Int64
  ) throws(ApnsFault) -> ProviderToken {
    guard let field = headers["authorization"] else { throw ApnsFault(.missingProviderToken, "no authorization") }
    let words = field.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, words[0].lowercased() == "bearer", !words[1].isEmpty else {
      throw ApnsFault(.missingProviderToken, "authorization must be: bearer <token>")
    }
    let text = String(words[1])
    let (keyId, issuedAt) = try verify(text)
    if let scope = keys[keyId]?.environment, scope != environment {
      throw ApnsFault(.badEnvironmentKeyInToken, "the key is for \(scope.rawValue)")
    }
    if let required, now >= required.from, !keyId.utf8.elementsEqual(required.keyId.utf8) {
      throw ApnsFault(.invalidProviderToken, "the key has been revoked")
    }
    let age = now / 1_000 - issuedAt
    guard age <= Self.life else { throw ApnsFault(.expiredProviderToken, "iat is \(age) s old") }
    guard age >= -Self.life else { throw ApnsFault(.invalidProviderToken, "iat is \(-age) s ahead") }
    return ProviderToken(keyId: keyId, issuedAt: issuedAt, text: text)
  }

  private mutating func verify(_ text: String) throws(ApnsFault) -> (keyId: String, issuedAt: Int64) {
    if let known = verified[text] { return known }
    guard let token = WebToken.parse(text) else { throw Self.fault("the token is no JSON web token") }
    guard token.header["alg"] == .string("ES256") else { throw Self.fault("alg must be ES256") }
    guard let keyId = token.header["kid"]?.string, let key = keys[keyId] else { throw Self.fault("kid is unknown") }
    guard token.claims["iss"] == .string(teamId) else { throw Self.fault("iss must be the team id") }
    guard let issuedAt = token.claims["iat"]?.integer else { throw Self.fault("iat must be whole seconds") }
    guard (0...100_000_000_000).contains(issuedAt) else { throw Self.fault("iat must be seconds since 1970") }
    guard token.signature.count == 64 else { throw Self.fault("the signature must be r and s, 64 bytes (not DER)") }
    guard token.isSigned(by: key.verifier) else { throw Self.fault("the signature is not the key's") }
    if verified.count >= 1_024 { verified = [:] }
    verified[text] = (keyId, issuedAt)
    return (keyId, issuedAt)
  }

  private static func fault(_ detail: String) -> ApnsFault { ApnsFault(.invalidProviderToken, detail) }
}
