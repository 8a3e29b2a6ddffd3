import Foundation
import Keys
import Loop
import Support

/// A push to Apple, right unless a test makes it wrong.
struct ApplePush: Sendable {
  var method = "POST"
  var path: String
  var fields: [(name: String, value: String)]
  var body: String
  /// The field's value; nil is the client's own, empty leaves the field out.
  var authorization: String?
  /// ms.
  var deadline = 10_000

  init(token: String, title: String = "Title", authorization: String? = nil) {
    path = "/3/device/\(token)"
    body = #"{"aps":{"alert":{"title":"\#(title)","body":"Body"},"sound":"default"}}"#
    fields = [
      ("apns-topic", "com.stably.orca.mobile"), ("apns-push-type", "alert"), ("apns-priority", "10"),
      ("apns-expiration", String(WallClock.milliseconds / 1_000 + 300)),
    ]
    self.authorization = authorization
  }

  /// Takes the field out, and puts it back with the value if there is one.
  mutating func set(_ name: String, _ value: String?) {
    fields.removeAll { $0.name == name }
    if let value { fields.append((name, value)) }
  }

  /// Makes it a background push.
  mutating func makeBackground(_ aps: String = #"{"content-available":1}"#) {
    set("apns-push-type", "background")
    set("apns-priority", "5")
    body = #"{"aps":\#(aps)}"#
  }

  /// Tokens that no other test uses.
  static func freshToken() -> String { UUID().uuidString.filter { $0 != "-" }.lowercased() }
}
