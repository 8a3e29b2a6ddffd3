internal import Contract
internal import Json

/// A phone's native push token, as the phone told it.
public enum PhoneToken: Equatable, Sendable {
  /// Apple's two worlds: debug builds have tokens of `sandbox`, TestFlight and the App Store of `production`.
  public enum Environment: String, Sendable, CaseIterable { case sandbox, production }

  /// Hex digits.
  case ios(String, Environment)
  /// FCM's registration token.
  case android(String)

  /// `ios` or `android`.
  public var platform: String {
    switch self {
    case .ios: Platform.ios.rawValue
    case .android: Platform.android.rawValue
    }
  }
}

extension PhoneToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The platform alone.
  public var description: String { "PhoneToken(\(platform))" }
  /// The same.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension PhoneToken {
  /// The body of a registration; throws what the contract has against it.
  func request(deviceId: String) throws(InvalidRequest) -> [UInt8] {
    var text = JsonText()
    text.object {
      $0.member("v", 1)
      $0.member("deviceId", deviceId)
      $0.member("platform", platform)
      switch self {
      case .ios(let token, let environment):
        $0.member("token", token)
        $0.member("apnsEnvironment", environment.rawValue)
      case .android(let token): $0.member("token", token)
      }
    }
    guard let json = try? JsonReader.read(text.bytes) else {
      throw InvalidRequest("deviceId or token cannot be written")
    }
    _ = try DeviceRequest(json)
    return text.bytes
  }
}

/// A registration as the gateway lists it.
public struct ListedPhone: Equatable, Sendable {
  /// The gateway's name for (host, device).
  public let registrationId: String
  /// This host's name for the phone.
  public let deviceId: String
  /// `ios` or `android`.
  public let platform: String
  /// Whether the provider has said that the token works no more.
  public let isDead: Bool
}
