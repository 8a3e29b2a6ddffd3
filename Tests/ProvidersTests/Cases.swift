import Contract
import FoundationEssentials
import Json
import Operations

@testable import Http
@testable import Providers

/// A file of cases beside this source.
func cases(_ name: String) throws -> [JsonValue] {
  let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name)
  let value = try JsonReader.read(Array(Data(contentsOf: url)))
  guard let cases = value.array, !cases.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
  return cases
}

/// When the phone of every test was last registered, Unix ms.
let lastRegistered: Int64 = 1_800_000_000_000

extension Notification {
  /// An alert with everything that is optional left out.
  static func plain(_ change: (inout Notification) -> Void = { _ in }) -> Notification {
    var notification = Notification.blank
    change(&notification)
    return notification
  }

  /// An alert with everything that a host may send.
  static func full(_ change: (inout Notification) -> Void = { _ in }) -> Notification {
    plain {
      $0.statedKind = .alert
      $0.notificationId = "n-1"
      $0.agentState = .needsInput
      $0.worktreeId = "w/ü"
      $0.paneKey = "p:0"
      $0.executionHost = "runtime:box"
      $0.expiresAt = 1_900_000_000_000
      $0.sound = true
      change(&$0)
    }
  }

  private static let blank: Notification = {
    let text = """
      {"notificationSeq":7,"notificationEpoch":"e","source":"terminal-bell","title":"T \\"1\\"","body":"B\\n2"}
      """
    guard let notification = try? Notification(stored: Array(text.utf8)) else { preconditionFailure("unreadable") }
    return notification
  }()
}

extension Push {
  static func test(
    _ notification: Notification, _ route: Route = .apnsProduction, token: String = "ABcd12", isSilent: Bool = false,
    isProven: Bool = true, hostFingerprint: String = "D20lU_8MD0R64gLt", identity: [UInt8] = Array(0..<16),
    expiresAt: Int64 = 1_900_000_123_999, remaining: Int64 = 299_999
  ) -> Push {
    Push(
      hostFingerprint: hostFingerprint, notification: notification, isSilent: isSilent, route: route, token: token,
      identity: identity, expiresAt: expiresAt, remaining: remaining, registeredAt: lastRegistered, isProven: isProven)
  }
}

extension Http2ClientRequest {
  /// A line for each field, with its place in HPACK's tables.
  var lines: [String] {
    var lines: [String] = []
    head.forEach { field in
      let name = String(decoding: head.bytes[field.name], as: UTF8.self)
      let text = String(decoding: head.bytes[field.value], as: UTF8.self)
      lines.append("\(name): \(text)\(field.indexed ? "" : " (never indexed)")")
    }
    return lines
  }

  var text: String { String(decoding: body, as: UTF8.self) }

  static func apns(_ push: Push) -> Http2ClientRequest {
    ApnsRequest.make(push, origin: .test, topic: "com.stably.orca.mobile", providerToken: "J.W.T")
  }

  static func fcm(_ push: Push, _ form: FcmSettings.Alerts = .notification) -> Http2ClientRequest {
    FcmRequest.make(push, origin: .test, project: "onorca-cloud", form: form, accessToken: "ya29")
  }
}

extension Http.Origin {
  static let test = Http.Origin(host: "provider.test", port: 443)
}
