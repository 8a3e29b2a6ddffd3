package import Json

extension DeliveryRecord {
  /// Writes the record as one object, as hosts and operators read it. What is not known or does not apply is left out.
  package func write(to text: inout JsonText) {
    text.object {
      $0.member("kind", kind.rawValue)
      $0.member("registrationId", ifPresent: registrationId)
      $0.member("platform", ifPresent: route?.platform.rawValue)
      $0.member("apnsEnvironment", ifPresent: apnsEnvironment?.rawValue)
      $0.member("state", state.rawValue)
      $0.member("waitsFor", ifPresent: waitsFor?.rawValue)
      $0.member("reason", ifPresent: reason)
      $0.member("detail", ifPresent: detail)
      $0.member("attempts", attempts)
      $0.member("retryReason", ifPresent: retryReason)
      $0.member("unknownOutcomes", unknownOutcomes)
      $0.member("providerId", ifPresent: providerId)
      $0.member("queuedAt", queuedAt)
      if let lastAttemptAt { $0.member("lastAttemptAt", lastAttemptAt) }
      if let nextAttemptAt { $0.member("nextAttemptAt", nextAttemptAt) }
      if let finishedAt { $0.member("finishedAt", finishedAt) }
      $0.member("deadline", deadline)
    }
  }
}
