internal import Json

/// A session that the gateway gave. Printing it shows nothing of the token.
struct HostSession: Equatable, Sendable {
  let token: String
  /// The gateway that gave it: it is shown to no other.
  let origin: String
  /// The host that it was given to, by its fingerprint.
  let host: String
  /// ms since 1970.
  let expiresAt: Int64

  /// How long before its end a session is renewed, ms.
  static let margin: Int64 = 60_000

  /// Whether it may still be used at that time of day.
  func isFresh(at wall: Int64) -> Bool { expiresAt - Self.margin > wall }
}

extension HostSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  var description: String { "HostSession(until \(expiresAt))" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: []) }
}

extension HostSession {
  /// As a state folder keeps it.
  var stored: [UInt8] {
    var text = JsonText()
    text.object {
      $0.member("sessionToken", token)
      $0.member("gateway", origin)
      $0.member("hostFingerprint", host)
      $0.member("expiresAt", expiresAt)
    }
    return text.bytes
  }

  /// Reads back what `stored` wrote; nil for anything else, since a session is easily had anew.
  init?(stored bytes: [UInt8]) {
    guard let json = try? JsonReader.read(bytes), let token = json["sessionToken"]?.string,
      let origin = json["gateway"]?.string, let host = json["hostFingerprint"]?.string,
      let expiresAt = json["expiresAt"]?.integer
    else { return nil }
    self.init(token: token, origin: origin, host: host, expiresAt: expiresAt)
  }
}
