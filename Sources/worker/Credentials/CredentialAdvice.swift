internal import Contract
internal import Operations

/// Says at the start which provider this worker has nothing to show to, and what to set: else the deliveries of its phones
/// wait without a word in the log.
struct CredentialAdvice {
  private let configuration: WorkerConfiguration

  init(_ configuration: WorkerConfiguration) { self.configuration = configuration }

  func tell(_ log: Log) {
    if configuration.apns == nil {
      log.warning(
        "no APNs key: deliveries to iOS stay pending",
        ["set": "ORCA_PUSH_APNS_KEY_FILE or ORCA_PUSH_APNS_KEY, ORCA_PUSH_APNS_KEY_ID, ORCA_PUSH_APPLE_TEAM_ID"])
    }
    // No warning: on Google Cloud this is how it should be, and whether that is here shows with the first delivery.
    if case .metadataServer(let server) = configuration.fcm.credential {
      log.notice(
        "FCM is shown this machine's identity, which only Google Cloud gives out",
        ["server": .text(server.text), "set": "GOOGLE_APPLICATION_CREDENTIALS where this is not Google Cloud"])
    }
  }
}
