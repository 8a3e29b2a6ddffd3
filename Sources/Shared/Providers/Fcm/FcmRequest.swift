internal import Contract
internal import Http
internal import Json
internal import Keys
internal import Operations

/// What Google is asked to deliver (contract, "Provider payloads"; rulings 6.4, 6.5).
enum FcmRequest {
  /// The longest `ttl` that is asked for, in seconds.
  static let longestLife: Int64 = 300

  /// - Parameters:
  ///   - project: the Firebase project's id.
  ///   - form: shown by the system (the contract's form), or by the app: FCM neither folds such messages together while
  ///     a phone is offline nor slows them down (`ORCA_PUSH_FCM_ALERTS`).
  ///   - accessToken: the bearer that says who sends.
  static func make(
    _ push: Push, origin: Http.Origin, project: String, form: FcmSettings.Alerts, accessToken: String
  ) -> Http2ClientRequest {
    request(body(push, form), origin, project, accessToken)
  }

  /// What Google is to check and not to deliver (`validateOnly`).
  static func probe(token: String, origin: Http.Origin, project: String, accessToken: String) -> Http2ClientRequest {
    var text = JsonText(reserving: 256)
    text.object { text in
      text.member("validateOnly", true)
      text.object("message") { text in
        text.member("token", token)
        text.object("data") { text in text.member("probe", "1") }
      }
    }
    return request(text.bytes, origin, project, accessToken)
  }

  private static func request(
    _ body: [UInt8], _ origin: Http.Origin, _ project: String, _ accessToken: String
  ) -> Http2ClientRequest {
    var head = HeaderBlock(method: "POST", origin: origin, path: "/v1/projects/\(project)/messages:send")
    head.add("authorization", "Bearer \(accessToken)", indexed: false)
    head.add("content-type", "application/json")
    return Http2ClientRequest(head: head, body: body)
  }

  private static func body(_ push: Push, _ form: FcmSettings.Alerts) -> [UInt8] {
    var text = JsonText(reserving: push.bodySize + 256 + push.token.utf8.count)
    text.object { text in
      text.object("message") { text in
        text.member("token", push.token)
        switch (push.notification.kind, form) {
        case (.dismiss, _): writeDismissal(push, &text)
        case (.alert, .notification): writeNotification(push, &text)
        case (.alert, .data): writeShownByApp(push, &text)
        }
      }
    }
    return text.bytes
  }

  private static func writeNotification(_ push: Push, _ text: inout JsonText) {
    let tag = push.collapseId
    text.object("notification") { text in
      text.member("title", push.notification.title)
      text.member("body", push.notification.body)
    }
    text.object("android") { text in
      text.member("priority", "HIGH")
      text.member("ttl", life(push))
      text.member("collapse_key", String(Sha256.hex(tag).prefix(32)))
      text.object("notification") { text in
        text.member("channel_id", channel(push))
        text.member("tag", tag)
      }
    }
    text.object("data", push.writeOrcaStrings)
  }

  private static func writeShownByApp(_ push: Push, _ text: inout JsonText) {
    text.object("android") { text in
      text.member("priority", "HIGH")
      text.member("ttl", life(push))
    }
    text.object("data") { text in
      push.writeOrcaStrings(&text)
      text.member("title", push.notification.title)
      text.member("message", push.notification.body)
      text.member("tag", push.collapseId)
      text.member("channelId", channel(push))
      if push.isSilent { text.member("sound", "") }
    }
  }

  private static func writeDismissal(_ push: Push, _ text: inout JsonText) {
    text.object("android") { text in
      // Google watches for HIGH messages that show nothing, and lowers the app's later ones for days: that would slow
      // the alerts down.
      text.member("priority", "NORMAL")
      text.member("ttl", life(push))
    }
    text.object("data", push.writeOrcaStrings)
  }

  /// Whole seconds of life left, `"0s"` being now or never.
  private static func life(_ push: Push) -> String {
    "\(min(longestLife, max(0, push.remaining / 1_000)))s"
  }

  /// On Android 8 and later the channel alone decides about sound.
  private static func channel(_ push: Push) -> String { push.isSilent ? "orca-desktop-silent" : "orca-desktop" }
}
