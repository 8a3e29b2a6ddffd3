extension DeliveryRecord {
  /// Which of Apple's two worlds was tried; nil for Android.
  package var apnsEnvironment: ApnsEnvironment? {
    switch route {
    case .apnsProduction: .production
    case .apnsSandbox: .sandbox
    case .fcm, nil: nil
    }
  }

  /// What the state and its reason mean, in one sentence for whoever writes a host; nil where the state says it all.
  package var detail: String? {
    switch state {
    case .sent where unknownOutcomes > 0:
      "accepted in the end; an attempt before may have been taken too, under the same id"
    case .sent: nil
    case .dead: tokenFault ?? "the provider says that the token works no more: the phone must register anew"
    case .failed:
      tokenFault.map { "\($0); the token was kept" } ?? "the provider refused it for good; the token was kept"
    case .expired: lastAttemptAt == nil ? "no attempt was made before the deadline" : "no attempt succeeded in time"
    case .cancelled: cancellation
    case .pending, .waiting, .sending: waiting
    }
  }

  /// A provider's word about the token that as often tells of a mixed-up environment or project, with what was tried.
  private var tokenFault: String? {
    guard let route else { return nil }
    let other = route == .apnsProduction ? "sandbox" : "production"
    switch reason {
    case "BadDeviceToken":
      return "Apple's \(route.environment) environment does not know this token: does it belong to \(other)?"
    case "DeviceTokenNotForTopic":
      return "Apple's \(route.environment) environment knows this token for another app than the gateway's topic"
    case "SENDER_ID_MISMATCH": return "the token belongs to another Firebase project than the gateway's"
    default: return nil
    }
  }

  private var cancellation: String? {
    switch reason.flatMap(DeliveryReason.init) {
    case .dismissed: "a dismissal of the same notificationId came first"
    case .deleted: "the registration was deleted"
    case .tokenDead: "the provider had called the registration's token dead"
    case .moved: "the phone was registered for another provider or environment meanwhile"
    case .deadline, nil: nil
    }
  }

  private var waiting: String? {
    switch waitsFor {
    case .credential where reason == DeliveryReason.lacksCredential:
      "the gateway has no credential for this provider; sends go on once an operator has set one"
    case .credential: "the provider refuses the gateway's credential; sends go on once an operator has mended it"
    case .turn: "deliveries of the same host go first"
    case .worker, .retry, nil: nil
    }
  }
}
