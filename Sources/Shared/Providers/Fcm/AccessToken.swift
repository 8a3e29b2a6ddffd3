package import Loop

/// What Google gives for a credential: a bearer for a while.
package struct AccessToken: Sendable, Equatable {
  /// Never logged.
  package let text: String
  /// Seconds from the request for it.
  package let lifetime: Double

  package init(text: String, lifetime: Double) {
    self.text = text
    self.lifetime = lifetime
  }
}

/// Why there is no access token. The text is for an operator and holds no secret.
package struct AccessTokenFailure: Error, Equatable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// Where access tokens come from.
@LoopActor
package protocol AccessTokenSource: Sendable {
  /// Asks for a token. Ends by itself within about 10 s.
  func fetch() async throws(AccessTokenFailure) -> AccessToken
}
