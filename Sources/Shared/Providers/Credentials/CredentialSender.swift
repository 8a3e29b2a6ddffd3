package import Loop

/// A sender with one credential and one idea of whom to trust, for good, and connections of its own: a provider binds a
/// connection to the credential that it first saw there. `RenewableSender` replaces one by another.
@LoopActor
package protocol CredentialSender: ProviderSender {
  /// As `send(_:_:)`, within a time that has begun already.
  func send(_ push: Push, _ budget: PushBudget, _ done: @escaping Done)
}

extension CredentialSender {
  /// The same for what is a task anyway.
  func send(_ push: Push, _ budget: PushBudget) async -> SendReport {
    await withUnsafeContinuation { waiter in send(push, budget) { waiter.resume(returning: $0) } }
  }
}
