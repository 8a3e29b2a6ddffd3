/// One of the servers that the sandbox stands in for.
struct Lane: Hashable, Sendable {
  let provider: Provider
  /// Apple's alone.
  var environment: ApnsEnvironment?

  static let apnsProduction = Lane(provider: .apns, environment: .production)
  static let apnsSandbox = Lane(provider: .apns, environment: .sandbox)
  static let fcm = Lane(provider: .fcm)
  static let oauth = Lane(provider: .oauth)
  static let metadata = Lane(provider: .metadata)
}
