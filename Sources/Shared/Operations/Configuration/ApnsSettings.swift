package import Contract
package import Keys

/// How the worker speaks to Apple.
package struct ApnsSettings: Sendable {
  /// A key that signs provider tokens.
  package struct SigningKey: Sendable {
    /// 10 of `A-Z0-9`.
    package let id: String
    /// Has signed once already.
    package let key: Es256Key
  }

  /// 10 of `A-Z0-9`.
  package let teamId: String
  package let production: SigningKey
  /// The same as `production` unless a second key was given.
  package let sandbox: SigningKey
  /// The app's bundle id, 1 to 155 characters.
  package let topic: String
  package let productionOrigin: Origin
  package let sandboxOrigin: Origin

  /// Nil when Apple is not set up; key, key id and team id come together or not at all.
  init?(_ settings: inout Settings) {
    topic = settings.text("ORCA_PUSH_APNS_TOPIC") ?? "com.stably.orca.mobile"
    if !topic.isMade(of: Self.topicBytes, count: 1...155) {
      settings.refuse("ORCA_PUSH_APNS_TOPIC", "must be the app's bundle id: letters, digits, dots and hyphens")
    }
    productionOrigin =
      settings.origin("ORCA_PUSH_APNS_PRODUCTION_URL")
      ?? Origin(scheme: .https, host: "api.push.apple.com", port: 443)
    sandboxOrigin =
      settings.origin("ORCA_PUSH_APNS_SANDBOX_URL")
      ?? Origin(scheme: .https, host: "api.sandbox.push.apple.com", port: 443)

    Self.requireTogether(["ORCA_PUSH_APNS_KEY", "ORCA_PUSH_APNS_KEY_ID", "ORCA_PUSH_APPLE_TEAM_ID"], &settings)
    Self.requireTogether(["ORCA_PUSH_APNS_SANDBOX_KEY", "ORCA_PUSH_APNS_SANDBOX_KEY_ID"], &settings)
    let teamId = Self.appleId("ORCA_PUSH_APPLE_TEAM_ID", &settings)
    let production = Self.signingKey("ORCA_PUSH_APNS_KEY", id: "ORCA_PUSH_APNS_KEY_ID", &settings)
    let sandbox = Self.signingKey("ORCA_PUSH_APNS_SANDBOX_KEY", id: "ORCA_PUSH_APNS_SANDBOX_KEY_ID", &settings)
    if settings.text("ORCA_PUSH_APNS_SANDBOX_KEY") != nil, settings.text("ORCA_PUSH_APNS_KEY") == nil {
      settings.refuse("ORCA_PUSH_APNS_SANDBOX_KEY", "is a second key: set ORCA_PUSH_APNS_KEY too")
    }
    guard let teamId, let production else { return nil }
    self.teamId = teamId
    self.production = production
    self.sandbox = sandbox ?? production
  }

  private static let topicBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"

  private static func requireTogether(_ variables: [String], _ settings: inout Settings) {
    let absent = variables.filter { settings.text($0) == nil }
    guard absent.count < variables.count else { return }
    for variable in absent {
      let others = variables.filter { !absent.contains($0) }.joined(separator: " and ")
      settings.refuse(variable, "is not set, but \(others) is: they come together or not at all")
    }
  }

  private static func appleId(_ variable: String, _ settings: inout Settings) -> String? {
    guard let id = settings.text(variable) else { return nil }
    if id.isMade(of: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", count: 10...10) { return id }
    settings.refuse(variable, "must be 10 characters of A-Z and 0-9")
    return nil
  }

  private static func signingKey(_ variable: String, id: String, _ settings: inout Settings) -> SigningKey? {
    let id = appleId(id, &settings)
    guard let text = settings.text(variable) else { return nil }
    do throws(KeyFault) {
      let key = try Es256Key(pem: text)
      return id.map { SigningKey(id: $0, key: key) }
    } catch {
      settings.refuse(variable, error.description)
      return nil
    }
  }
}

extension String {
  /// Whether there are that many characters, all of them among `alphabet`'s (ASCII).
  func isMade(of alphabet: String, count: ClosedRange<Int>) -> Bool {
    count.contains(utf8.count) && utf8.allSatisfy { alphabet.utf8.contains($0) }
  }
}
