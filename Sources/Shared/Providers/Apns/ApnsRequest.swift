internal import Contract
internal import Json

/// What Apple is asked to deliver (contract, "Provider payloads"; rulings 6.4, 6.5).
enum ApnsRequest {
  /// The largest body that Apple takes, in bytes. A notification within the contract's 3000 bytes stays below it whatever
  /// it holds: it is repeated here member by member, under names no longer than its own, and at most 300 bytes are added.
  static let bodyLimit = 4_096

  /// - Parameters:
  ///   - topic: the app's bundle id.
  ///   - providerToken: the web token that says who sends.
  static func make(_ push: Push, topic: String, providerToken: String) -> ProviderRequest {
    let isAlert = push.notification.kind == .alert
    var fields: [ProviderRequest.Field] = [
      .init(name: ":method", value: "POST", isIndexed: true),
      .init(name: ":path", value: "/3/device/\(push.token)", isIndexed: false),
      .init(name: "authorization", value: "bearer \(providerToken)", isIndexed: false),
      .init(name: "apns-topic", value: topic, isIndexed: true),
      .init(name: "apns-push-type", value: isAlert ? "alert" : "background", isIndexed: true),
      // A background push with priority 10 is refused.
      .init(name: "apns-priority", value: isAlert ? "10" : "5", isIndexed: true),
      // Whole seconds: Apple would store the push for 50,000 years if given milliseconds.
      .init(name: "apns-expiration", value: String(push.expiresAt / 1_000), isIndexed: false),
      .init(name: "apns-id", value: ApnsId.text(push.identity), isIndexed: false),
    ]
    if isAlert { fields.append(.init(name: "apns-collapse-id", value: push.collapseId, isIndexed: false)) }
    return ProviderRequest(fields: fields, body: body(push))
  }

  private static func body(_ push: Push) -> [UInt8] {
    var text = JsonText(reserving: 1_024)
    text.object { text in
      text.object("aps") { text in
        guard push.notification.kind == .alert else { return text.member("content-available", 1) }
        text.object("alert") { text in
          text.member("title", push.notification.title)
          text.member("body", push.notification.body)
        }
        if !push.isSilent { text.member("sound", "default") }
        text.member("thread-id", push.hostFingerprint)
      }
      text.object("orca", push.writeOrcaMembers)
    }
    return text.bytes
  }
}
