/// What a provider's answer means for a delivery. Reasons are the provider's own words, at most 100 characters of
/// printable ASCII.
package enum Reply: Sendable, Equatable {
  /// Taken; it may still not reach a screen. The provider's id of it, where it gave one.
  case accepted(id: String?)
  /// The token works no more: the registration is to be marked dead, if it still has this token and, where given, was last
  /// registered before `registeredBefore` (Unix ms). A suspicious one also comes of a wrong topic, environment or project,
  /// so it counts for the invalidation breaker (rulings 6.9, 6.10).
  case dead(reason: String, registeredBefore: Int64?, isSuspicious: Bool)
  /// Due again after a backoff of at least `minimum` ms, one attempt behind it. `isUnknown`: the provider may have taken it
  /// all the same (rulings 6.11).
  case again(reason: String, minimum: Int64, isUnknown: Bool = false)
  /// Due again once: a 410 about a time before the last registration (rulings 6.9). The second time it has failed.
  case againOnce(reason: String)
  /// The provider did not look at it: due again, and no attempt is counted.
  case untouched(reason: String)
  /// This process had no way to send it in its time: due again for whoever gets to it first, and no attempt is counted.
  case crowdedOut(reason: String)
  /// The credential is to be renewed and the push sent again at once. `ProviderSender` sees to it and never returns it.
  case refreshCredential(reason: String)
  /// The push is to be sent again on a new connection at once. `ProviderSender` sees to it and never returns it.
  case reconnect(reason: String)
  /// Nothing is wrong with the push: the lane waits until somebody mends the credential or the configuration.
  case park(reason: String)
  /// Will never be taken as it is; the token is left alone.
  case failed(reason: String)

  /// The reason, or nil for what was accepted.
  package var reason: String? {
    switch self {
    case .accepted: nil
    case .dead(let reason, _, _), .again(let reason, _, _), .againOnce(let reason), .untouched(let reason),
      .crowdedOut(let reason), .refreshCredential(let reason), .reconnect(let reason), .park(let reason),
      .failed(let reason):
      reason
    }
  }

  /// The reason as a metric's label: `accepted`, or the reason's word without what follows a colon. The metric folds
  /// words that it does not know into one.
  package var label: String {
    guard let reason else { return "accepted" }
    return reason.split(separator: ":").first.map(String.init) ?? reason
  }
}
