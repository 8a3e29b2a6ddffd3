internal import Contract
internal import Json

/// The host's phones, and the registrations that the gateway still has to forget. One document, so that a phone leaves the
/// one list and enters the other in the same instant. Pure.
struct PhoneBook: Equatable {
  /// A registration that the gateway has to forget.
  struct Farewell: Equatable {
    let registrationId: String
    let deviceId: String
  }

  // Both lists are short by themselves: an id comes from the gateway, which gives a host at most 64 at a time.
  private(set) var registrations: [Registration] = []
  private(set) var farewells: [Farewell] = []

  func registration(of deviceId: String) -> Registration? { registrations.first { $0.deviceId == deviceId } }

  /// Keeps a registration in place of the device's earlier one.
  mutating func keep(_ registration: Registration) {
    registrations.removeAll { $0.deviceId == registration.deviceId }
    registrations.append(registration)
    // The gateway knows it again.
    farewells.removeAll { $0.registrationId == registration.registrationId }
  }

  /// Lets a device go, and has the gateway forget it; whether there was one.
  mutating func part(with deviceId: String) -> Bool {
    guard let registration = registration(of: deviceId) else { return false }
    registrations.removeAll { $0.deviceId == deviceId }
    owe(Farewell(registrationId: registration.registrationId, deviceId: deviceId))
    return true
  }

  /// Has the gateway forget a registration.
  mutating func owe(_ farewell: Farewell) {
    if !farewells.contains(farewell) { farewells.append(farewell) }
  }

  /// The gateway has forgotten it.
  mutating func settle(_ farewell: Farewell) { farewells.removeAll { $0 == farewell } }

  /// Drops exactly what was observed: a phone that has registered anew since then stays. Whether it was there.
  mutating func drop(_ observed: Registration) -> Bool {
    guard let place = registrations.firstIndex(of: observed) else { return false }
    registrations.remove(at: place)
    return true
  }
}

extension PhoneBook {
  /// As the state folder keeps it.
  var stored: [UInt8] {
    var text = JsonText(reserving: 4_096)
    text.object {
      $0.member("v", 1)
      $0.array("registrations") { text in
        for registration in registrations { text.object { registration.write(&$0) } }
      }
      $0.array("deletes") { text in
        for farewell in farewells {
          text.object {
            $0.member("registrationId", farewell.registrationId)
            $0.member("deviceId", farewell.deviceId)
          }
        }
      }
    }
    return text.bytes
  }

  /// Reads back what `stored` wrote; nil for anything else.
  init?(stored bytes: [UInt8]) {
    guard let json = try? JsonReader.read(bytes, maxMembers: 100_000), json["v"] == .integer(1),
      let phones = json["registrations"]?.array, let deletes = json["deletes"]?.array
    else { return nil }
    // A registration without an end would be sent to for ever: it is let go (contract, "Individual delivery").
    for phone in phones where phone["expiresAt"] != nil {
      guard let registration = Registration(phone) else { return nil }
      registrations.append(registration)
    }
    for delete in deletes {
      guard let registrationId = delete["registrationId"]?.string, let deviceId = delete["deviceId"]?.string
      else { return nil }
      farewells.append(Farewell(registrationId: registrationId, deviceId: deviceId))
    }
  }
}

extension Registration {
  fileprivate func write(_ text: inout JsonText) {
    text.member("deviceId", deviceId)
    text.member("registrationId", registrationId)
    text.member("platform", platform)
    text.object("filter") {
      $0.member("awayOnly", preferences.awayOnly)
      $0.member("sound", preferences.sound)
    }
    text.member("registeredAt", registeredAt)
    text.member("expiresAt", expiresAt)
    text.member("secret", ifPresent: secret.map { Base64.encode($0.bytes) })
  }

  fileprivate init?(_ json: JsonValue) {
    guard let deviceId = json["deviceId"]?.string, let registrationId = json["registrationId"]?.string,
      let platform = json["platform"]?.string, let awayOnly = json["filter"]?["awayOnly"]?.bool,
      let sound = json["filter"]?["sound"]?.bool, let registeredAt = json["registeredAt"]?.integer,
      let expiresAt = json["expiresAt"]?.integer
    else { return nil }
    var secret: DeviceSecret?
    if let text = json["secret"]?.string {
      guard let bytes = Base64.decode(text), let read = DeviceSecret(bytes) else { return nil }
      secret = read
    }
    self.init(
      deviceId: deviceId, registrationId: registrationId, platform: platform,
      preferences: PhonePreferences(awayOnly: awayOnly, sound: sound), registeredAt: registeredAt,
      expiresAt: expiresAt, secret: secret)
  }
}
