import Contract
import Http
import Json
import Keys
import Loop
import Support
import Testing

@testable import sandbox

/// One way to get a push wrong, and what Apple says to it.
struct ApnsCase: Sendable, CustomTestStringConvertible {
  let name: String
  let status: Int
  let reason: String?
  let change: @Sendable (inout ApplePush, Es256Key) throws -> Void

  init(
    _ name: String, _ status: Int, _ reason: String?,
    _ change: @escaping @Sendable (inout ApplePush, Es256Key) throws -> Void
  ) {
    self.name = name
    self.status = status
    self.reason = reason
    self.change = change
  }

  var testDescription: String { name }
}

struct ApnsStrictnessTests {
  /// Sends the push on a connection of its own.
  private func expect(_ wanted: ApnsCase) async throws {
    let sandbox = try await SharedSandbox.running
    let client = try await AppleClient(sandbox)
    var push = ApplePush(token: ApplePush.freshToken())
    try wanted.change(&push, client.key)
    let answer = try await client.send(push)
    #expect(answer.status == wanted.status)
    #expect(answer.reason == wanted.reason)
    await client.close()
  }

  @Test(arguments: [
    ApnsCase("as it should be", 200, nil) { _, _ in },
    ApnsCase("no priority", 200, nil) { push, _ in push.set("apns-priority", nil) },
    ApnsCase("priority 1", 200, nil) { push, _ in push.set("apns-priority", "1") },
    ApnsCase("now or never", 200, nil) { push, _ in push.set("apns-expiration", "0") },
    ApnsCase("collapse id of 64 bytes", 200, nil) { push, _ in
      push.set("apns-collapse-id", String(repeating: "c", count: 64))
    },
    ApnsCase("alert as a text", 200, nil) { push, _ in push.body = #"{"aps":{"alert":"Text"}}"# },
    ApnsCase("badge alone", 200, nil) { push, _ in push.body = #"{"aps":{"badge":0}}"# },
    ApnsCase("background", 200, nil) { push, _ in push.makeBackground() },
    ApnsCase("token of 200 digits", 200, nil) { push, _ in
      push.path = "/3/device/" + String(repeating: "ab", count: 100)
    },
    ApnsCase("payload of 4096 bytes", 200, nil) { push, _ in push.body = payload(bytes: 4_096) },
    ApnsCase("VoIP payload of 5120 bytes", 200, nil) { push, _ in
      push.set("apns-push-type", "voip")
      push.set("apns-topic", "com.stably.orca.mobile.voip")
      push.body = payload(bytes: 5_120)
    },
    ApnsCase("bearer in capitals", 200, nil) { push, key in
      push.authorization = "Bearer " + (try AppleClient.token(key))
    },
    ApnsCase("token 50 minutes old", 200, nil) { push, key in
      push.authorization = "bearer " + (try AppleClient.token(key, age: 3_000))
    },
  ])
  func `What is right is taken`(wanted: ApnsCase) async throws { try await expect(wanted) }

  @Test(arguments: [
    ApnsCase("another path", 404, "BadPath") { push, _ in push.path = "/3/devices/aabb" },
    ApnsCase("more path", 404, "BadPath") { push, _ in push.path = "/3/device/aabb/cc" },
    ApnsCase("no path", 404, "BadPath") { push, _ in push.path = "/" },
    ApnsCase("GET", 405, "MethodNotAllowed") { push, _ in push.method = "GET" },
    ApnsCase("PUT", 405, "MethodNotAllowed") { push, _ in push.method = "PUT" },
    ApnsCase("no token", 400, "MissingDeviceToken") { push, _ in push.path = "/3/device/" },
    ApnsCase("odd token", 400, "BadDeviceToken") { push, _ in push.path = "/3/device/abc" },
    ApnsCase("token that is no hex", 400, "BadDeviceToken") { push, _ in push.path = "/3/device/xyzw" },
  ])
  func `Another path, method or token form is refused`(wanted: ApnsCase) async throws { try await expect(wanted) }

  @Test(arguments: [
    ApnsCase("none", 403, "MissingProviderToken") { push, _ in push.authorization = "" },
    ApnsCase("another scheme", 403, "MissingProviderToken") { push, _ in push.authorization = "basic abc" },
    ApnsCase("no token", 403, "MissingProviderToken") { push, _ in push.authorization = "bearer" },
    ApnsCase("no web token", 403, "InvalidProviderToken") { push, _ in push.authorization = "bearer abc" },
    ApnsCase("unknown key", 403, "InvalidProviderToken") { push, key in
      push.authorization = "bearer " + (try AppleClient.token(key, keyId: "OTHERKEY00"))
    },
    ApnsCase("another team", 403, "InvalidProviderToken") { push, key in
      push.authorization = "bearer " + (try AppleClient.token(key, teamId: "OTHERTEAM0"))
    },
    ApnsCase("another key's signature", 403, "InvalidProviderToken") { push, _ in
      push.authorization = "bearer " + (try AppleClient.token(try Es256Key.generate()))
    },
    ApnsCase("an hour old", 403, "ExpiredProviderToken") { push, key in
      push.authorization = "bearer " + (try AppleClient.token(key, age: 3_700))
    },
    ApnsCase("an hour ahead", 403, "InvalidProviderToken") { push, key in
      push.authorization = "bearer " + (try AppleClient.token(key, age: -3_700))
    },
    ApnsCase("no alg", 403, "InvalidProviderToken") { push, key in
      push.authorization = try bearer(key, header: ["kid": .string("SANDBOXKEY")])
    },
    ApnsCase("alg none", 403, "InvalidProviderToken") { push, key in
      push.authorization = try bearer(key, header: ["alg": .string("none"), "kid": .string("SANDBOXKEY")])
    },
    ApnsCase("iat as a text", 403, "InvalidProviderToken") { push, key in
      push.authorization = try bearer(key, issuedAt: .string("\(WallClock.milliseconds / 1_000)"))
    },
    ApnsCase("iat with a fraction", 403, "InvalidProviderToken") { push, key in
      push.authorization = try bearer(key, issuedAt: .number(Double(WallClock.milliseconds) / 1_000 + 0.5))
    },
    ApnsCase("iat in milliseconds", 403, "InvalidProviderToken") { push, key in
      push.authorization = try bearer(key, issuedAt: .integer(WallClock.milliseconds))
    },
    ApnsCase("signature as DER", 403, "InvalidProviderToken") { push, _ in
      let input = WebTokens.input(
        ["alg": .string("ES256"), "kid": .string("SANDBOXKEY")],
        ["iss": .string("ORCASANDBX"), "iat": .integer(WallClock.milliseconds / 1_000)])
      push.authorization = "bearer \(input).\(Base64Url.encode([0x30, 70] + [UInt8](repeating: 1, count: 70)))"
    },
  ])
  func `A provider token that is missing, stale or not the team's is refused`(wanted: ApnsCase) async throws {
    try await expect(wanted)
  }

  @Test(arguments: [
    ApnsCase("no topic", 400, "MissingTopic") { push, _ in push.set("apns-topic", nil) },
    ApnsCase("topic that is no bundle id", 400, "BadTopic") { push, _ in push.set("apns-topic", "com.stably orca") },
    ApnsCase("topic of another type", 400, "BadTopic") { push, _ in
      push.set("apns-topic", "com.stably.orca.mobile.voip")
    },
    ApnsCase("topic of others", 400, "TopicDisallowed") { push, _ in push.set("apns-topic", "com.example.other") },
    ApnsCase("no push type", 400, "InvalidPushType") { push, _ in push.set("apns-push-type", nil) },
    ApnsCase("unknown push type", 400, "InvalidPushType") { push, _ in push.set("apns-push-type", "silent") },
    ApnsCase("priority 7", 400, "BadPriority") { push, _ in push.set("apns-priority", "7") },
    ApnsCase("background with priority 10", 400, "BadPriority") { push, _ in
      push.makeBackground()
      push.set("apns-priority", "10")
    },
    ApnsCase("background without priority", 400, "BadPriority") { push, _ in
      push.makeBackground()
      push.set("apns-priority", nil)
    },
    ApnsCase("expiration in milliseconds", 400, "BadExpirationDate") { push, _ in
      push.set("apns-expiration", String(WallClock.milliseconds))
    },
    ApnsCase("expiration with a fraction", 400, "BadExpirationDate") { push, _ in
      push.set("apns-expiration", "1800000000.5")
    },
    ApnsCase("expiration below 0", 400, "BadExpirationDate") { push, _ in push.set("apns-expiration", "-1") },
    ApnsCase("collapse id of 65 bytes", 400, "BadCollapseId") { push, _ in
      push.set("apns-collapse-id", String(repeating: "c", count: 65))
    },
    ApnsCase("collapse id of 33 characters in 66 bytes", 400, "BadCollapseId") { push, _ in
      push.set("apns-collapse-id", String(repeating: "é", count: 33))
    },
    ApnsCase("apns-id in capitals", 400, "BadMessageId") { push, _ in
      push.set("apns-id", "C5A1E546-5761-47A1-A6EC-083149D5BA08")
    },
    ApnsCase("apns-id without hyphens", 400, "BadMessageId") { push, _ in
      push.set("apns-id", "c5a1e546576147a1a6ec083149d5ba08")
    },
    ApnsCase("a field twice", 400, "DuplicateHeaders") { push, _ in
      push.fields.append(("apns-topic", "com.stably.orca.mobile"))
    },
    ApnsCase("compressed", 400, "PayloadEmpty") { push, _ in push.set("content-encoding", "gzip") },
  ])
  func `A field that is wrong is named`(wanted: ApnsCase) async throws { try await expect(wanted) }

  @Test(arguments: [
    ApnsCase("nothing", 400, "PayloadEmpty") { push, _ in push.body = "" },
    ApnsCase("no JSON", 400, "PayloadEmpty") { push, _ in push.body = "{" },
    ApnsCase("a member twice", 400, "PayloadEmpty") { push, _ in
      push.body = #"{"aps":{"alert":"a"},"aps":{"alert":"b"}}"#
    },
    ApnsCase("no aps", 400, "PayloadEmpty") { push, _ in push.body = #"{"orca":{}}"# },
    ApnsCase("title that is no text", 400, "PayloadEmpty") { push, _ in push.body = #"{"aps":{"alert":{"title":1}}}"# },
    ApnsCase("badge as a text", 400, "PayloadEmpty") { push, _ in push.body = #"{"aps":{"alert":"a","badge":"1"}}"# },
    ApnsCase("4097 bytes", 413, "PayloadTooLarge") { push, _ in push.body = payload(bytes: 4_097) },
    ApnsCase("a megabyte", 413, "PayloadTooLarge") { push, _ in push.body = payload(bytes: 1 << 20) },
    ApnsCase("alert push without alert", 400, "InvalidPushType") { push, _ in push.body = #"{"aps":{}}"# },
    ApnsCase("background with an alert", 400, "InvalidPushType") { push, _ in
      push.makeBackground(#"{"content-available":1,"alert":"a"}"#)
    },
    ApnsCase("background with a sound", 400, "InvalidPushType") { push, _ in
      push.makeBackground(#"{"content-available":1,"sound":""}"#)
    },
    ApnsCase("background without content-available", 400, "InvalidPushType") { push, _ in push.makeBackground("{}") },
  ])
  func `A payload that is wrong or does not fit its push type is refused`(wanted: ApnsCase) async throws {
    try await expect(wanted)
  }

  @Test func `The sender's id is told back, and made up where there is none`() async throws {
    let client = try await AppleClient(try await SharedSandbox.running)
    var push = ApplePush(token: ApplePush.freshToken())
    push.set("apns-id", "c5a1e546-5761-47a1-a6ec-083149d5ba08")
    #expect(try await client.send(push).headers["apns-id"] == "c5a1e546-5761-47a1-a6ec-083149d5ba08")
    push.set("apns-id", nil)
    #expect(try await client.send(push).headers["apns-id"]?.count == 36)
    push.body = ""
    push.set("apns-id", "c5a1e546-5761-47a1-a6ec-083149d5ba08")
    #expect(try await client.send(push).headers["apns-id"] == "c5a1e546-5761-47a1-a6ec-083149d5ba08")
    await client.close()
  }

  @Test(arguments: [("ORCA_PUSH_APNS_SANDBOX_URL", true), ("ORCA_PUSH_APNS_PRODUCTION_URL", false)])
  func `Apple's sandbox alone gives a key to its delivery log`(variable: String, gives: Bool) async throws {
    let client = try await AppleClient(try await SharedSandbox.running, variable)
    let answer = try await client.send(ApplePush(token: ApplePush.freshToken()))
    #expect(answer.status == 200)
    #expect((answer.headers["apns-unique-id"] != nil) == gives)
    await client.close()
  }

  @Test func `A token of the other environment or of another app is refused`() async throws {
    let sandbox = try await SharedSandbox.running
    let (production, other) = (ApplePush.freshToken(), ApplePush.freshToken())
    try await sandbox.script(
      """
      {"devices":[{"token":"\(production)","environment":"production"},{"token":"\(other)","topic":"com.example.other"}]}
      """)
    let client = try await AppleClient(sandbox)
    #expect(try await client.send(ApplePush(token: production)).reason == "BadDeviceToken")
    #expect(try await client.send(ApplePush(token: other)).reason == "DeviceTokenNotForTopic")
    let right = try await AppleClient(sandbox, "ORCA_PUSH_APNS_PRODUCTION_URL")
    #expect(try await right.send(ApplePush(token: production)).status == 200)
    await client.close()
    await right.close()
  }

  @Test func `A second provider token on a connection is one too many`() async throws {
    let sandbox = try await SharedSandbox.running
    let client = try await AppleClient(sandbox)
    let next = "bearer " + (try AppleClient.token(client.key, age: 60))
    let token = ApplePush.freshToken()
    #expect(try await client.send(ApplePush(token: token)).status == 200)
    let refused = try await client.send(ApplePush(token: token, authorization: next))
    #expect(refused.status == 429 && refused.reason == "TooManyProviderTokenUpdates")
    #expect(try await client.send(ApplePush(token: token)).status == 200)
    await client.close()
    let fresh = try await AppleClient(sandbox)
    #expect(try await fresh.send(ApplePush(token: token, authorization: next)).status == 200)
    await fresh.close()
  }

  private static func payload(bytes: Int) -> String {
    let start = #"{"aps":{"alert":""#
    let end = #""}}"#
    return start + String(repeating: "x", count: bytes - start.utf8.count - end.utf8.count) + end
  }

  private static func bearer(
    _ key: Es256Key, header: JsonObject = ["alg": .string("ES256"), "kid": .string("SANDBOXKEY")],
    issuedAt: JsonValue = .integer(WallClock.milliseconds / 1_000)
  ) throws -> String {
    "bearer " + (try WebTokens.make(header, ["iss": .string("ORCASANDBX"), "iat": issuedAt], key))
  }
}
