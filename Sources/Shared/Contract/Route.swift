/// The kind of phone that a registration is for.
package enum Platform: String, Sendable, CaseIterable { case ios, android }

/// Which of Apple's two worlds an iOS token belongs to.
package enum ApnsEnvironment: String, Sendable, CaseIterable { case sandbox, production }

/// The way out to a phone: provider and environment. Deliveries of different routes never wait for one another.
/// The raw value is stored.
package enum Route: Int16, Sendable, CaseIterable {
  case apnsProduction = 1
  case apnsSandbox = 2
  case fcm = 3

  package var platform: Platform { self == .fcm ? .android : .ios }
  /// `apns` or `fcm`, as metrics call it.
  package var provider: String { self == .fcm ? "fcm" : "apns" }
  /// `production`, or `sandbox` for Apple's other one, as metrics call it.
  package var environment: String { self == .apnsSandbox ? "sandbox" : "production" }
}

/// What a native push token looks like (rulings 1.9). Nothing is said of whether it works.
package enum DeviceToken {
  /// An even number of hex digits, 2 to 4096.
  package static func isApns(_ token: String) -> Bool {
    let count = token.utf8.count
    return (2...4096).contains(count) && count % 2 == 0
      && token.utf8.allSatisfy { (48...57).contains($0) || (65...70).contains($0) || (97...102).contains($0) }
  }

  /// 32 to 4096 of `A-Z a-z 0-9 _ : . -`, or a Firebase installation id: 22 of `A-Z a-z 0-9 _ -`.
  package static func isFcm(_ token: String) -> Bool {
    let count = token.utf8.count
    guard count == 22 || (32...4096).contains(count) else { return false }
    return token.utf8.allSatisfy { byte in
      switch byte {
      case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"): true
      case UInt8(ascii: ":"), UInt8(ascii: "."): count != 22
      default: false
      }
    }
  }
}
