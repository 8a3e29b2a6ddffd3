/// Every bound of the contract, in one place. Lengths in characters count UTF-16 code units (rulings 1.6).
package enum Limits {
  /// Largest request body, bytes.
  package static let requestBody = 16_384
  /// Longest opaque id: challenge, registration, device, epoch.
  package static let opaqueId = 128
  /// Registrations a send may name, repeats included.
  package static let registrationsPerSend = 20
  /// The notification as compact JSON, UTF-8 bytes.
  package static let notificationBytes = 3_000
  package static let title = 80
  package static let body = 180
  /// `notificationId`, `worktreeId`, `paneKey`, `executionHost`.
  package static let routingText = 2_048
  /// Registrations a host may hold.
  package static let devicesPerHost = 64
  /// Logical events of one kind that a host may have accepted within `quotaWindow`.
  package static let eventsPerWindow = 300
  /// 15 minutes, in ms.
  package static let quotaWindow: Int64 = 900_000
  /// The longest life of an event after its first acceptance, in ms.
  package static let eventLife: Int64 = 300_000
  /// How long a challenge may be answered, in ms.
  package static let challengeLife: Int64 = 10_000
  /// How long after its end a challenge is still known, in ms.
  package static let challengeGrace: Int64 = 30_000
  /// How long a session lasts, in ms.
  package static let sessionLife: Int64 = 86_400_000
  /// How long after its end a session is still known as expired, in ms.
  package static let sessionGrace: Int64 = 600_000
  /// How long identities, outcomes and fences are kept, in ms.
  package static let identityLife: Int64 = 86_400_000
  /// The largest integer that the contract takes: 2^53 - 1.
  package static let integer: Int64 = 9_007_199_254_740_991
}
