internal import Contract
internal import Json

/// What a phone sends to be registered: `{ platform, token, apnsEnvironment?, filter? }`, read strictly.
public struct RegistrationParameters: Equatable, Sendable {
  /// The native push token.
  public let token: PhoneToken
  /// What the phone wants; flags that it does not send keep their default.
  public let preferences: PhonePreferences

  /// Made by the host's own code.
  public init(token: PhoneToken, preferences: PhonePreferences = PhonePreferences()) {
    self.token = token
    self.preferences = preferences
  }

  /// Reads a phone's JSON. A member too many is an error: a `deviceId` of the phone's own choice is not silently dropped.
  public init(json: [UInt8]) throws(ParameterFault) {
    guard let value = try? JsonReader.read(json), let object = value.object else {
      throw ParameterFault("must be a JSON object")
    }
    for member in object.members
    where !["platform", "token", "apnsEnvironment", "filter"].contains(member.key) {
      throw ParameterFault("have a member that is not known")
    }
    guard let token = object["token"]?.string else { throw ParameterFault("have no token") }
    let environment = object["apnsEnvironment"]
    switch object["platform"]?.string {
    case "ios":
      guard let name = environment?.string, let environment = PhoneToken.Environment(rawValue: name)
      else { throw ParameterFault("have no apnsEnvironment, sandbox or production") }
      guard DeviceToken.isApns(token) else { throw ParameterFault("have a token that is none of Apple's") }
      self.token = .ios(token, environment)
    case "android":
      guard environment == nil else { throw ParameterFault("have an apnsEnvironment, which is for ios only") }
      guard DeviceToken.isFcm(token) else { throw ParameterFault("have a token that is none of FCM's") }
      self.token = .android(token)
    default: throw ParameterFault("have no platform, ios or android")
    }
    preferences = try Self.preferences(object["filter"])
  }

  private static func preferences(_ value: JsonValue?) throws(ParameterFault) -> PhonePreferences {
    var preferences = PhonePreferences()
    guard let value else { return preferences }
    guard let object = value.object else { throw ParameterFault("have a filter that is no object") }
    for member in object.members {
      guard let flag = member.value.bool else {
        throw ParameterFault("have a filter flag that is neither true nor false")
      }
      switch member.key {
      case "awayOnly": preferences.awayOnly = flag
      case "sound": preferences.sound = flag
      default: throw ParameterFault("have a filter flag that is not known")
      }
    }
    return preferences
  }
}

/// What is wrong with a phone's parameters, to be read after "the parameters". It holds none of their values.
public struct ParameterFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// For instance "have no token".
  public let description: String

  init(_ description: String) { self.description = description }
}
