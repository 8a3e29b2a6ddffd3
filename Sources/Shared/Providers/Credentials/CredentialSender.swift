package import Loop

/// A sender with one credential and one idea of whom to trust, for good, and connections of its own: a provider binds a
/// connection to the credential that it first saw there. `RenewableSender` replaces one by another.
@LoopActor
package protocol CredentialSender: ProviderSender {
  /// As `send(_:)`, within a time that has begun already.
  func send(_ push: Push, _ budget: PushBudget) async -> SendReport
}
