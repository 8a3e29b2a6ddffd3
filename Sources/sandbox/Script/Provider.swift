/// Whom a request was for.
enum Provider: String, CaseIterable, Sendable {
  case apns, fcm
  /// Google's token endpoint.
  case oauth
  /// Google Cloud's metadata server.
  case metadata
}
