internal import Json

/// What a phone wants, kept by the host alone: the gateway filters nothing.
public struct PhonePreferences: Equatable, Sendable {
  /// Whether it is left alone while somebody is at the desktop.
  public var awayOnly: Bool
  /// Whether its alerts are heard.
  public var sound: Bool

  /// What holds for a phone that says nothing of its own.
  public init(awayOnly: Bool = true, sound: Bool = true) {
    self.awayOnly = awayOnly
    self.sound = sound
  }
}

/// A phone that asked for pushes, as the host keeps it (contract, "Desktop").
public struct Registration: Equatable, Sendable {
  /// How long a phone is sent to after it was last seen in use, ms: seven days.
  public static let lease: Int64 = 7 * 86_400_000

  /// This host's name for the phone.
  public let deviceId: String
  /// The gateway's name for (host, device).
  public let registrationId: String
  /// `ios` or `android`.
  public let platform: String
  /// What the phone wants.
  public var preferences: PhonePreferences
  /// When it was registered last, ms since 1970.
  public let registeredAt: Int64
  /// When its lease runs out, ms since 1970. Only the phone in use renews it.
  public let expiresAt: Int64
  /// What only this host and the phone know; nil for a phone whose pushes are not sealed.
  public let secret: DeviceSecret?

  /// Whether it may be sent to at that time of day.
  public func isLive(at wall: Int64) -> Bool { wall < expiresAt }
}

/// What only a host and one of its phones know, from when they were paired. Printing it shows nothing.
public struct DeviceSecret: Equatable, Sendable {
  /// 1 to 1,024 bytes.
  public let bytes: [UInt8]

  /// Nil for no bytes, or more than 1,024.
  public init?(_ bytes: [UInt8]) {
    guard (1...1_024).contains(bytes.count) else { return nil }
    self.bytes = bytes
  }
}

extension DeviceSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A mask.
  public var description: String { "DeviceSecret(…)" }
  /// The same.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
