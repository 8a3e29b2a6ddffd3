internal import Http
package import Keys
package import Loop
package import Operations
package import Tls

/// Access tokens for a service account: an assertion that its key signs is exchanged for one (RFC 7523).
@LoopActor
package final class ServiceAccountTokens: AccessTokenSource {
  private let email: String
  private let keyId: String
  private let key: Rs256Key
  private let tokenUri: String
  private let scope: GoogleScope
  private let tls: TlsClientContext?
  private let deadline: Int
  /// Signs: a millisecond is too long for the loop.
  private let signer = BlockingCalls(name: "rs256")

  /// - Parameters:
  ///   - email: the account, the assertion's `iss`.
  ///   - keyId: the assertion's `kid`.
  ///   - tokenUri: where it is exchanged, and its `aud`: the file's own, so that any server that the file names takes it.
  ///   - scope: what the tokens are for.
  ///   - tls: for an https `tokenUri`.
  ///   - deadline: for the whole of an exchange, in ms.
  package init(
    email: String, keyId: String, key: Rs256Key, tokenUri: String, scope: GoogleScope = .messaging,
    tls: TlsClientContext?, deadline: Int = 4_000
  ) {
    self.email = email
    self.keyId = keyId
    self.key = key
    self.tokenUri = tokenUri
    self.scope = scope
    self.tls = tls
    self.deadline = deadline
  }

  package convenience init(_ account: ServiceAccount, scope: GoogleScope = .messaging, tls: TlsClientContext?) {
    self.init(
      email: account.clientEmail, keyId: account.privateKeyId, key: account.privateKey, tokenUri: account.tokenUri,
      scope: scope, tls: tls)
  }

  package func fetch() async throws(AccessTokenFailure) -> AccessToken {
    let who = "the token server"
    let body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(try await assertion())"
    let response = try await AccessTokenExchange.send(
      "POST", tokenUri, headers: ["content-type": "application/x-www-form-urlencoded"], body: Array(body.utf8),
      tls: tls, deadline: deadline, who: who)
    return try AccessTokenExchange.token(response, who: who)
  }

  private func assertion() async throws(AccessTokenFailure) -> String {
    let (email, keyId, key, tokenUri, scope) = (email, keyId, key, tokenUri, scope.rawValue)
    let now = WallClock.milliseconds / 1_000
    do throws(KeyFault) {
      return try await signer.run { () throws(KeyFault) in
        try WebToken.rs256(keyId: keyId, issuer: email, scope: scope, audience: tokenUri, issuedAt: now, key: key)
      }
    } catch { throw AccessTokenFailure("the service account's key \(error)") }
  }
}
