internal import Loop
package import Operations
package import Tls

/// What an access token is for.
package enum GoogleScope: String, Sendable {
  /// Sending messages, and nothing else.
  case messaging = "https://www.googleapis.com/auth/firebase.messaging"
  /// Whatever the account's roles allow. The metadata server's tokens are for this whatever is asked.
  case cloud = "https://www.googleapis.com/auth/cloud-platform"
}

extension GoogleCredential {
  /// Where its tokens are fetched.
  /// - Parameter tls: for an https `token_uri`.
  @LoopActor
  package func tokens(_ scope: GoogleScope, tls: TlsClientContext?) -> any AccessTokenSource {
    switch self {
    case .serviceAccount(let account): ServiceAccountTokens(account, scope: scope, tls: tls)
    case .metadataServer(let origin): MetadataServerTokens(origin: origin)
    }
  }
}
