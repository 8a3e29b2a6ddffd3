package import Contract

/// How the worker speaks to Google.
package struct FcmSettings: Sendable {
  /// The form of an alert (rulings 6.5).
  package enum Alerts: String, CaseIterable, Sendable { case notification, data }

  /// Where access tokens come from.
  package enum Credential: Sendable {
    /// A service-account key, exchanged for tokens at its own `token_uri`.
    case serviceAccount(ServiceAccount)
    /// The identity of the machine, from the metadata server there.
    case metadataServer(Origin)
  }

  /// 1 to 64 of `a-z0-9.:-`.
  package let projectId: String
  package let alerts: Alerts
  package let origin: Origin
  package let credential: Credential

  init(_ settings: inout Settings) {
    projectId = settings.text("ORCA_PUSH_FCM_PROJECT_ID") ?? "onorca-cloud"
    if !projectId.isMade(of: "abcdefghijklmnopqrstuvwxyz0123456789.:-", count: 1...64) {
      settings.refuse("ORCA_PUSH_FCM_PROJECT_ID", "must be a Google project id: lower-case letters, digits and hyphens")
    }
    alerts = settings.choice("ORCA_PUSH_FCM_ALERTS") ?? .notification
    origin =
      settings.origin("ORCA_PUSH_FCM_URL") ?? Origin(scheme: .https, host: "fcm.googleapis.com", port: 443)
    let metadata = Self.metadataServer(&settings)
    credential = ServiceAccount(&settings).map { .serviceAccount($0) } ?? .metadataServer(metadata)
  }

  /// A bare host, as Google's own libraries read this variable. The link to it never leaves the machine.
  private static func metadataServer(_ settings: inout Settings) -> Origin {
    if let text = settings.text("GCE_METADATA_HOST") {
      do throws(OriginFault) {
        return try Origin("http://" + text)
      } catch {
        settings.refuse("GCE_METADATA_HOST", "must be a host, or host:port, without a scheme or path")
      }
    }
    return Origin(scheme: .http, host: "metadata.google.internal", port: 80)
  }
}
