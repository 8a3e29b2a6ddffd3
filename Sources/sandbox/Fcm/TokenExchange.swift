internal import Json
internal import Keys

/// Why an assertion is not exchanged (RFC 6749 5.2), as Google says it.
struct ExchangeFault: Error, Equatable {
  let error: String
  let description: String

  init(_ error: String, _ description: String) {
    self.error = error
    self.description = description
  }

  var body: [UInt8] {
    JsonText.render(.object(["error": .string(error), "error_description": .string(description)]))
  }
}

/// Exchanges a service account's assertion for an access token (RFC 7523).
struct TokenExchange: Sendable {
  /// Seconds by which two clocks may differ.
  private static let skew: Int64 = 300
  private static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  private static let scopes: Set = [
    "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
  ]

  let clientEmail: String
  let keys: ServiceKeys
  /// What `aud` may be: Google's own address, which its libraries name wherever they send to, and the sandbox's.
  let audiences: [String]

  /// Accepts the form or says what is wrong with it.
  ///
  /// - Parameter milliseconds: the time, ms since 1970.
  func check(form: [UInt8], at milliseconds: Int64) throws(ExchangeFault) {
    let now = milliseconds / 1_000
    let fields = Form.fields(String(decoding: form, as: UTF8.self))
    guard fields["grant_type"] == Self.grant else {
      throw ExchangeFault("unsupported_grant_type", "Invalid grant_type: \(Self.grant) is due")
    }
    guard let assertion = fields["assertion"], let token = WebToken.parse(assertion) else {
      throw ExchangeFault("invalid_grant", "Invalid JWT: it must be three parts of base64url")
    }
    guard token.header["alg"] == .string("RS256"),
      let verifier = token.header["kid"]?.string.flatMap({ keys.verifier($0, now: milliseconds) }),
      token.claims["iss"] == .string(clientEmail), token.isSigned(by: verifier)
    else { throw ExchangeFault("invalid_grant", "Invalid JWT Signature.") }
    guard let audience = token.claims["aud"]?.string, audiences.contains(audience) else {
      throw ExchangeFault("invalid_grant", "Invalid JWT: aud must be the token endpoint")
    }
    guard let issuedAt = token.claims["iat"]?.integer, let end = token.claims["exp"]?.integer,
      issuedAt <= now + Self.skew, end > now - Self.skew, end > issuedAt, end - issuedAt <= 3_600
    else {
      throw ExchangeFault(
        "invalid_grant",
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check iat and exp.")
    }
    let asked = token.claims["scope"]?.string?.split(separator: " ").map(String.init) ?? []
    guard asked.contains(where: Self.scopes.contains) else {
      throw ExchangeFault("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
    }
  }
}
