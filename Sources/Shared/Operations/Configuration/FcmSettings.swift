package import Contract

/// How the worker speaks to Google.
package struct FcmSettings: Sendable {
  /// The form of an alert (rulings 6.5).
  package enum Alerts: String, CaseIterable, Sendable { case notification, data }

  /// A project's id, with its domain before a colon where it is of the old kind, or its number.
  package let projectId: String
  package let alerts: Alerts
  package let origin: Origin
  package let credential: GoogleCredential

  init(_ settings: inout Settings) {
    projectId = settings.text("ORCA_PUSH_FCM_PROJECT_ID") ?? "onorca-cloud"
    if !ProjectId.isOne(projectId) {
      settings.refuse(
        "ORCA_PUSH_FCM_PROJECT_ID",
        "must be a Google project id: 6 to 30 lower-case letters, digits and hyphens, a letter first and no hyphen last"
      )
    }
    alerts = settings.choice("ORCA_PUSH_FCM_ALERTS") ?? .notification
    origin =
      settings.origin("ORCA_PUSH_FCM_URL") ?? Origin(scheme: .https, host: "fcm.googleapis.com", port: 443)
    credential = GoogleCredential(&settings)
  }
}
