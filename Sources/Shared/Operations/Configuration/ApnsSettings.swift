package import Contract
package import Keys

/// How the worker speaks to Apple.
package struct ApnsSettings: Sendable {
  /// A key that signs provider tokens.
  package struct SigningKey: Sendable, Equatable {
    /// 10 of `A-Z0-9`.
    package let id: String
    /// Has signed once already.
    package let key: Es256Key

    package static func == (a: SigningKey, b: SigningKey) -> Bool {
      a.id == b.id && a.key.publicKeyPem() == b.key.publicKeyPem()
    }
  }

  /// 10 of `A-Z0-9`.
  package let teamId: String
  package let production: SigningKey
  /// The same as `production` unless a second key was given.
  package let sandbox: SigningKey
  /// The app's bundle id, 1 to 155 characters in parts that dots separate.
  package let topic: String
  package let productionOrigin: Origin
  package let sandboxOrigin: Origin

  /// Nil when Apple is not set up; key, key id and team id come together or not at all.
  init?(_ settings: inout Settings) {
    topic = settings.text("ORCA_PUSH_APNS_TOPIC") ?? "com.stably.orca.mobile"
    if !topic.isMade(of: Self.topicBytes, count: 1...155) || !topic.hasNoEmptyLabel {
      settings.refuse(
        "ORCA_PUSH_APNS_TOPIC", "must be the app's bundle id: letters, digits and hyphens, with single dots between")
    }
    productionOrigin =
      settings.origin("ORCA_PUSH_APNS_PRODUCTION_URL")
      ?? Origin(scheme: .https, host: "api.push.apple.com", port: 443)
    sandboxOrigin =
      settings.origin("ORCA_PUSH_APNS_SANDBOX_URL")
      ?? Origin(scheme: .https, host: "api.sandbox.push.apple.com", port: 443)

    let main = SigningKeySource("ORCA_PUSH_APNS_KEY", &settings)
    let second = SigningKeySource("ORCA_PUSH_APNS_SANDBOX_KEY", &settings)
    let team = "ORCA_PUSH_APPLE_TEAM_ID"
    Self.requireTogether(main.parts(&settings) + [.init(variable: team, isSet: settings.text(team) != nil)], &settings)
    Self.requireTogether(second.parts(&settings), &settings)
    let teamId = Self.appleId(team, &settings)
    let production = Self.signingKey(main, &settings)
    let sandbox = Self.signingKey(second, &settings)
    if second.isPresent, !main.isPresent {
      settings.refuse(second.variable, "is a second key: set ORCA_PUSH_APNS_KEY too")
    }
    guard let teamId, let production else { return nil }
    self.teamId = teamId
    self.production = production
    self.sandbox = sandbox ?? production
  }

  private static let topicBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"

  private static func requireTogether(_ parts: [SigningKeySource.Part], _ settings: inout Settings) {
    let present = parts.filter(\.isSet).map(\.variable)
    guard let first = present.first else { return }
    let others = present.count == 1 ? "\(first) is" : present.joined(separator: " and ") + " are"
    for part in parts where !part.isSet {
      let instead = part.instead.map { ", \($0)" } ?? ""
      settings.refuse(part.variable, "is not set\(instead), but \(others): they come together or not at all")
    }
  }

  private static func appleId(_ variable: String, _ settings: inout Settings) -> String? {
    guard let id = settings.text(variable) else { return nil }
    if id.isMade(of: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", count: 10...10) { return id }
    settings.refuse(variable, "must be 10 characters of A-Z and 0-9")
    return nil
  }

  private static func signingKey(_ source: SigningKeySource, _ settings: inout Settings) -> SigningKey? {
    let id = source.file?.keyId ?? appleId(source.idVariable, &settings)
    guard let text = source.text else { return nil }
    do throws(KeyFault) {
      let key = try Es256Key(pem: text)
      return id.map { SigningKey(id: $0, key: key) }
    } catch {
      settings.refuse(source.variable, source.file == nil ? error.description : "names a file that \(error)")
      return nil
    }
  }
}

extension String {
  /// Whether there are that many characters, all of them among `alphabet`'s (ASCII).
  func isMade(of alphabet: String, count: ClosedRange<Int>) -> Bool {
    count.contains(utf8.count) && utf8.allSatisfy { alphabet.utf8.contains($0) }
  }

  /// Whether something stands before, between and behind all dots.
  var hasNoEmptyLabel: Bool { !split(separator: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) }
}
