internal import Contract
internal import Http
internal import Json

/// What Apple is asked to deliver (contract, "Provider payloads"; rulings 6.4, 6.5).
enum ApnsRequest {
  /// The largest body that Apple takes, in bytes. A notification within the contract's 3000 bytes stays below it whatever
  /// it holds: it is repeated here member by member, under names no longer than its own, and at most 300 bytes are added.
  static let bodyLimit = 4_096

  /// - Parameters:
  ///   - topic: the app's bundle id.
  ///   - providerToken: the web token that says who sends.
  static func make(_ push: Push, origin: Http.Origin, topic: String, providerToken: String) -> Http2ClientRequest {
    let isAlert = push.notification.kind == .alert
    // Secrets must not lie in an HPACK table, and what differs each time would push the rest out of Apple's small one.
    var head = HeaderBlock(method: "POST", origin: origin, path: "/3/device/\(push.token)")
    head.add("authorization", "bearer \(providerToken)", indexed: false)
    head.add("apns-topic", topic)
    head.add("apns-push-type", isAlert ? "alert" : "background")
    // A background push with priority 10 is refused.
    head.add("apns-priority", isAlert ? "10" : "5")
    // Whole seconds: in milliseconds it would be a date that Apple refuses, or keeps the push for.
    head.add("apns-expiration", String(push.expiresAt / 1_000), indexed: false)
    head.add("apns-id", ApnsId.text(push.identity), indexed: false)
    if isAlert { head.add("apns-collapse-id", push.collapseId, indexed: false) }
    return Http2ClientRequest(head: head, body: body(push))
  }

  private static func body(_ push: Push) -> [UInt8] {
    var text = JsonText(reserving: push.bodySize)
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
