internal import Http
internal import Json
internal import Keys

/// What a request showed to say who sends, fit for a log: never the token itself.
struct Credential: Sendable {
  /// Tells one token from another: 16 hex digits of its SHA-256.
  let digest: String
  /// Of a web token its `kid`, unchecked.
  let keyId: String?
  /// Of a web token its `iat`, unchecked.
  let issuedAt: Int64?

  /// Reads what follows `bearer`.
  init?(_ headers: HttpHeaders) {
    guard let words = headers["authorization"]?.split(separator: " "), words.count == 2 else { return nil }
    let text = String(words[1])
    digest = String(Sha256.hex(text).prefix(16))
    let token = WebToken.parse(text)
    keyId = token?.header["kid"]?.string
    issuedAt = token?.claims["iat"]?.integer
  }

  func write(_ text: inout JsonText) {
    text.object("credential") { text in
      text.member("digest", digest)
      text.member("kid", ifPresent: keyId)
      if let issuedAt { text.member("iat", issuedAt) }
    }
  }
}

/// Reads credentials once: a sender shows the same one with every request.
struct CredentialCache {
  private var known: [String: Credential] = [:]

  mutating func credential(_ headers: HttpHeaders) -> Credential? {
    guard let field = headers["authorization"] else { return nil }
    if let credential = known[field] { return credential }
    guard let credential = Credential(headers) else { return nil }
    if known.count >= 1_024 { known = [:] }
    known[field] = credential
    return credential
  }
}
