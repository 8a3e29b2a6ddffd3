package import Contract

/// How the worker speaks to Google.
package struct FcmSettings: Sendable {
  /// The form of an alert (rulings 6.5).
  package enum Alerts: String, CaseIterable, Sendable { case notification, data }

  /// 1 to 64 of `a-z0-9.:-`.
  package let projectId: String
  package let alerts: Alerts
  package let origin: Origin
  package let credential: GoogleCredential

  init(_ settings: inout Settings) {
    projectId = settings.text("ORCA_PUSH_FCM_PROJECT_ID") ?? "onorca-cloud"
    if !projectId.isMade(of: "abcdefghijklmnopqrstuvwxyz0123456789.:-", count: 1...64) {
      settings.refuse("ORCA_PUSH_FCM_PROJECT_ID", "must be a Google project id: lower-case letters, digits and hyphens")
    }
    alerts = settings.choice("ORCA_PUSH_FCM_ALERTS") ?? .notification
    origin =
      settings.origin("ORCA_PUSH_FCM_URL") ?? Origin(scheme: .https, host: "fcm.googleapis.com", port: 443)
    credential = GoogleCredential(&settings)
  }
}
