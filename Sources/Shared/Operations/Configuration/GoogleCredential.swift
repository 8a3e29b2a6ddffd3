package import Contract

/// Where access tokens for Google's APIs come from.
package enum GoogleCredential: Sendable {
  /// A service-account key, exchanged for tokens at its own `token_uri`.
  case serviceAccount(ServiceAccount)
  /// The identity of the machine, from the metadata server there.
  case metadataServer(Origin)

  init(_ settings: inout Settings) {
    let metadata = Self.metadataServer(&settings)
    self = ServiceAccount(&settings).map { .serviceAccount($0) } ?? .metadataServer(metadata)
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
