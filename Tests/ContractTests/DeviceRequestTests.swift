import Contract
import Json
import Testing

/// Rulings 1.9: what a native token looks like, and where it belongs.
@Suite struct DeviceRequestTests {
  private func android(_ token: String) -> Bent {
    Door.devices.sample.with("platform", "android").with("token", .string(token)).with("apnsEnvironment", nil)
  }

  private func ios(_ token: String) -> Bent { Door.devices.sample.with("token", .string(token)) }

  private static func run(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

  static let apnsTokens = ["00", "fF", run("0a", 32), run("AB", 50), run("9F", 2048), "0123456789abcdefABCDEF"]
  static let notApnsTokens = [
    "", "0", "000", run("a", 4095), run("a", 4097), run("a", 4098), "0g", "0x", " 00", "00 ", "0\n", "０0", "é",
    "e\u{301}0",
    "<0a0b>", "0a-b",
  ]
  static let fcmTokens = [
    run("a", 32), run("a", 4096), run("_:.-", 8), "dQw4w9WgXcQ_aBcDeFgHi-", run("0", 22),
    "cT0ken-9_Z:APA91b.\(run("Xx", 60))",
  ]
  static let notFcmTokens = [
    "", "a", run("a", 21), run("a", 23), run("a", 31), run("a", 4097), run("a", 21) + ":", run("a", 21) + ".",
    run("é", 32),
    run("é", 16), run("a", 31) + " ", run("a", 31) + "/", run("a", 31) + "+", run("a", 31) + "=", run("a", 32) + "\n",
    run("a", 31) + "e\u{301}", run("a", 32) + "\u{0}",
  ]

  @Test(arguments: apnsTokens)
  func `An iOS token is hex of an even length, kept as sent`(token: String) throws {
    let request = try DeviceRequest(ios(token).value)
    #expect(request.token == token)
    #expect(request.route == .apnsProduction)
    #expect(request.route.platform == .ios)
    #expect(request.deviceId == "d-1")
  }

  @Test(arguments: notApnsTokens)
  func `Anything else is no iOS token`(token: String) {
    #expect(throws: InvalidRequest.self) { try Door.devices.read(ios(token).bytes) }
  }

  @Test(arguments: fcmTokens)
  func `An Android token is long or an installation id, kept as sent`(token: String) throws {
    let request = try DeviceRequest(android(token).value)
    #expect(request.token == token)
    #expect(request.route == .fcm)
    #expect(request.route.platform == .android)
  }

  @Test(arguments: notFcmTokens)
  func `Anything else is no Android token`(token: String) {
    #expect(throws: InvalidRequest.self) { try Door.devices.read(android(token).bytes) }
  }

  @Test func `iOS needs an environment, Android must not have one`() throws {
    #expect(try DeviceRequest(Door.devices.sample.with("apnsEnvironment", "sandbox").value).route == .apnsSandbox)
    #expect(try DeviceRequest(Door.devices.sample.value).route == .apnsProduction)
    for value in [nil, .null, "", "Production", "development", 1, .bool(true)] as [JsonValue?] {
      #expect(throws: InvalidRequest.self) {
        try Door.devices.read(Door.devices.sample.with("apnsEnvironment", value).bytes)
      }
    }
    for value in ["production", "sandbox", .null, "", 1] as [JsonValue] {
      let bent = android(Self.fcmTokens[0]).with("apnsEnvironment", value)
      #expect(throws: InvalidRequest.self) { try Door.devices.read(bent.bytes) }
    }
  }

  @Test func `The platform is ios or android in that spelling`() {
    for value in ["iOS", "IOS", "Android", "", "ios ", "web", 1, .null, ["ios"]] as [JsonValue] {
      #expect(throws: InvalidRequest.self) { try Door.devices.read(Door.devices.sample.with("platform", value).bytes) }
    }
  }

  @Test func `An Android token of hex is no iOS token of its length, and the other way round`() throws {
    try Door.devices.read(android(Self.run("0a", 32)).bytes)
    #expect(throws: InvalidRequest.self) { try Door.devices.read(ios(Self.run("_", 32)).bytes) }
    #expect(throws: InvalidRequest.self) { try Door.devices.read(android("0a").bytes) }
  }
}
