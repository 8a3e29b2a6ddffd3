internal import Contract
package import Json

/// A JSON web token in compact form (RFC 7515, RFC 7519): made for Apple and Google, read by the sandbox.
///
/// Reading one says nothing about who made it: ask `isSigned(by:)`, which also holds the algorithm to the key's.
package struct WebToken: Sendable {
  /// Bytes of text that are read.
  package static let limit = 8_192

  /// The header's members.
  package let header: JsonObject
  /// The claims.
  package let claims: JsonObject
  /// The bytes after the second dot, decoded.
  package let signature: [UInt8]
  /// What the signature is over: header, dot and claims as they came.
  package let signingInput: [UInt8]

  /// Reads three parts of base64url, the first two JSON objects; nil for anything else.
  package static func parse(_ text: String) -> WebToken? {
    guard text.utf8.count <= limit else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let header = object(parts[0]), let claims = object(parts[1]),
      let signature = Base64Url.decode(parts[2])
    else { return nil }
    return WebToken(
      header: header, claims: claims, signature: signature, signingInput: Array("\(parts[0]).\(parts[1])".utf8))
  }

  /// Whether the header says ES256 and the signature is that key's.
  package func isSigned(by verifier: Es256Verifier) -> Bool {
    header["alg"] == .string("ES256") && verifier.verify(signature: signature, of: signingInput)
  }

  /// Whether the header says RS256 and the signature is that key's.
  package func isSigned(by verifier: Rs256Verifier) -> Bool {
    header["alg"] == .string("RS256") && verifier.verify(signature: signature, of: signingInput)
  }

  /// The provider token that APNs asks for: header `alg`, `kid`; claims `iss`, `iat`.
  ///
  /// - Parameters:
  ///   - keyId: Apple's 10 characters for the key.
  ///   - teamId: Apple's 10 characters for the team.
  ///   - issuedAt: seconds since 1970. Apple takes a token for an hour from then.
  package static func es256(
    keyId: String, teamId: String, issuedAt: Int64, key: Es256Key
  ) throws(KeyFault) -> String {
    let input = signingInput(algorithm: "ES256", type: nil, keyId: keyId) {
      $0.member("iss", teamId)
      $0.member("iat", issuedAt)
    }
    return signed(input, try key.sign(Array(input.utf8)))
  }

  /// The assertion that a service account exchanges for an access token (RFC 7523): header `alg`, `typ`, `kid`;
  /// claims `iss`, `scope`, `aud`, `iat`, `exp`. Takes about 800 us: not for the event loop.
  ///
  /// - Parameters:
  ///   - keyId: `private_key_id` of the account's file; the member is left out when there is none.
  ///   - issuer: the account's e-mail address.
  ///   - scope: scopes, a space between two.
  ///   - audience: where it is to be exchanged.
  ///   - issuedAt: seconds since 1970.
  ///   - lifetime: seconds, at most 3,600 for Google.
  package static func rs256(
    keyId: String?, issuer: String, scope: String, audience: String, issuedAt: Int64, lifetime: Int64 = 3_600,
    key: Rs256Key
  ) throws(KeyFault) -> String {
    let input = signingInput(algorithm: "RS256", type: "JWT", keyId: keyId) {
      $0.member("iss", issuer)
      $0.member("scope", scope)
      $0.member("aud", audience)
      $0.member("iat", issuedAt)
      $0.member("exp", issuedAt + lifetime)
    }
    return signed(input, try key.sign(Array(input.utf8)))
  }

  private static func signingInput(
    algorithm: String, type: String?, keyId: String?, claims: (inout JsonText) -> Void
  ) -> String {
    var header = JsonText(reserving: 64)
    header.object {
      $0.member("alg", algorithm)
      $0.member("typ", ifPresent: type)
      $0.member("kid", ifPresent: keyId)
    }
    var body = JsonText(reserving: 256)
    body.object(claims)
    return "\(Base64Url.encode(header.bytes)).\(Base64Url.encode(body.bytes))"
  }

  private static func signed(_ input: String, _ signature: [UInt8]) -> String {
    "\(input).\(Base64Url.encode(signature))"
  }

  private static func object(_ part: String) -> JsonObject? {
    guard let bytes = Base64Url.decode(part) else { return nil }
    return (try? JsonReader.read(bytes))?.object
  }
}
