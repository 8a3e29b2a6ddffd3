import Http
import Json
import Support
import Testing

/// A body, and what Google says to it.
struct FcmCase: Sendable, CustomTestStringConvertible {
  let name: String
  let body: String
  var word = "INVALID_ARGUMENT"
  var errorCode: String?
  var field: String?

  init(_ name: String, _ body: String, errorCode: String? = nil, field: String? = nil) {
    self.name = name
    self.body = body
    self.errorCode = errorCode
    self.field = field
  }

  var testDescription: String { name }
}

struct FcmStrictnessTests {
  private func answer(_ body: String, _ change: @Sendable (GoogleClient) async -> Void = { _ in }) async throws
    -> GoogleClient.Answer
  {
    let client = try await GoogleClient(try await SharedSandbox.running)
    await change(client)
    let answer = try await client.send(body)
    await client.close()
    return answer
  }

  @Test(arguments: [
    ("token alone", #"{"message":{"token":"abc:APA91b-_"}}"#),
    ("installation id", #"{"message":{"fid":"cZ9y8X7w6V5u4T3s2R1q0P"}}"#),
    (
      "camelCase",
      #"""
      {"validateOnly":false,"message":{"token":"a","notification":{"title":"T","body":"B"},"android":{"priority":"HIGH",
      "ttl":"300s","collapseKey":"k","notification":{"channelId":"c","tag":"t","notificationCount":2}}}}
      """#
    ),
    (
      "snake_case",
      #"""
      {"validate_only":false,"message":{"token":"a","android":{"priority":"high","ttl":"0s","collapse_key":"k",
      "notification":{"channel_id":"c","click_action":"a","body_loc_args":["x"]}},"data":{"k":"v"}}}
      """#
    ),
    ("fraction of a second", #"{"message":{"token":"a","android":{"ttl":"1.5s"}}}"#),
    ("nulls", #"{"message":{"token":"a","notification":null,"data":null}}"#),
    ("collapse_key in data", #"{"message":{"token":"a","data":{"collapse_key":"k"}}}"#),
    ("4096 bytes", #"{"message":{"token":"a","data":{"k":"\#(String(repeating: "v", count: 4_095))"}}}"#),
    ("topic", #"{"message":{"topic":"news"}}"#),
  ])
  func `What is right is taken`(name: String, body: String) async throws {
    let answer = try await answer(body)
    #expect(answer.status == 200)
    #expect(answer.json?["name"]?.string?.hasPrefix("projects/orca-sandbox/messages/0:") == true)
  }

  @Test func `Validation alone answers with a made-up id and shows nothing`() async throws {
    let token = "validated-" + ApplePush.freshToken()
    let answer = try await answer(
      #"{"validate_only":true,"message":{"token":"\#(token)","notification":{"title":"T"}}}"#)
    #expect(answer.json?["name"] == .string("projects/orca-sandbox/messages/fake_message_id"))
    let phones = try await SharedSandbox.running.tray()["phones"]?.array ?? []
    #expect(!phones.contains { $0["token"] == .string(token) })
  }

  @Test(arguments: [
    FcmCase("no JSON", "{", field: ""),
    FcmCase("unknown member", #"{"message":{"token":"a"},"foo":1}"#, field: ""),
    FcmCase("unknown member of message", #"{"message":{"token":"a","foo":1}}"#, field: "message"),
    FcmCase(
      "misspelt field", #"{"message":{"token":"a","android":{"collapsekey":"k"}}}"#, field: "message.android"),
    FcmCase(
      "both names of a field", #"{"message":{"token":"a","android":{"collapseKey":"k","collapse_key":"k"}}}"#,
      field: "message.android.collapse_key"),
    FcmCase("token that is no text", #"{"message":{"token":1}}"#, field: "message.token"),
    FcmCase("number in data", #"{"message":{"token":"a","data":{"k":"v","n":1}}}"#, field: "message.data[1].value"),
    FcmCase("null in data", #"{"message":{"token":"a","data":{"k":null}}}"#, field: "message.data[0].value"),
    FcmCase("data that is a list", #"{"message":{"token":"a","data":[]}}"#, field: "message.data"),
    FcmCase("ttl as a number", #"{"message":{"token":"a","android":{"ttl":300}}}"#, field: "message.android.ttl"),
    FcmCase("ttl without s", #"{"message":{"token":"a","android":{"ttl":"300"}}}"#, field: "message.android.ttl"),
    FcmCase("ttl below 0", #"{"message":{"token":"a","android":{"ttl":"-1s"}}}"#, field: "message.android.ttl"),
    FcmCase(
      "another priority", #"{"message":{"token":"a","android":{"priority":"URGENT"}}}"#,
      field: "message.android.priority"),
    FcmCase(
      "title that is no text", #"{"message":{"token":"a","notification":{"title":1}}}"#,
      field: "message.notification.title"),
    FcmCase("flag as a text", #"{"validateOnly":"true","message":{"token":"a"}}"#, field: "validateOnly"),
    FcmCase("two targets", #"{"message":{"token":"a","topic":"b"}}"#, field: "message"),
  ])
  func `What the API's description does not know, its common layer refuses`(wanted: FcmCase) async throws {
    try await expect(wanted)
  }

  @Test(arguments: [
    FcmCase("no message", "{}", errorCode: "INVALID_ARGUMENT", field: "message"),
    FcmCase("no target", #"{"message":{"data":{}}}"#, errorCode: "INVALID_ARGUMENT", field: "message"),
    FcmCase(
      "token with a space", #"{"message":{"token":"bad token"}}"#, errorCode: "INVALID_ARGUMENT",
      field: "message.token"),
    FcmCase(
      "ttl over four weeks", #"{"message":{"token":"a","android":{"ttl":"2419201s"}}}"#, errorCode: "INVALID_ARGUMENT",
      field: "message.android.ttl"),
    FcmCase(
      "reserved key from", #"{"message":{"token":"a","data":{"from":"x"}}}"#, errorCode: "INVALID_ARGUMENT",
      field: "message.data"),
    FcmCase(
      "reserved key google.x", #"{"message":{"token":"a","android":{"data":{"google.x":"x"}}}}"#,
      errorCode: "INVALID_ARGUMENT", field: "message.android.data"),
    FcmCase(
      "reserved key gcm.notification.x", #"{"message":{"token":"a","data":{"gcm.notification.x":"x"}}}"#,
      errorCode: "INVALID_ARGUMENT", field: "message.data"),
    FcmCase(
      "color without #", #"{"message":{"token":"a","android":{"notification":{"color":"ff0000"}}}}"#,
      errorCode: "INVALID_ARGUMENT", field: "message.android.notification.color"),
    FcmCase(
      "android and androidV2", #"{"message":{"token":"a","android":{},"androidV2":{}}}"#,
      errorCode: "INVALID_ARGUMENT", field: "message.android_v2"),
    FcmCase("4097 bytes", #"{"message":{"token":"a","data":{"k":"\#(String(repeating: "v", count: 4_096))"}}}"#),
    FcmCase(
      "2049 bytes to a topic", #"{"message":{"topic":"a","data":{"k":"\#(String(repeating: "v", count: 2_048))"}}}"#),
  ])
  func `What FCM itself refuses has its code, but for a payload too big`(wanted: FcmCase) async throws {
    try await expect(wanted)
  }

  private func expect(_ wanted: FcmCase) async throws {
    let answer = try await answer(wanted.body)
    #expect(answer.status == 400)
    #expect(answer.word == "INVALID_ARGUMENT")
    #expect(answer.errorCode == wanted.errorCode)
    #expect(answer.field == wanted.field)
  }

  @Test(arguments: ["", "Bearer", "Bearer ya29.other", "Basic abc"])
  func `Without an access token of the sandbox's nothing is taken`(authorization: String) async throws {
    let answer = try await answer(#"{"message":{"token":"a"}}"#) { client in
      await client.use(authorization: authorization)
    }
    #expect(answer.status == 401 && answer.word == "UNAUTHENTICATED" && answer.errorCode == nil)
  }

  @Test func `Another project is not found, without FCM's code`() async throws {
    let answer = try await answer(#"{"message":{"token":"a"}}"#) { client in
      await client.use(path: "/v1/projects/other/messages:send")
    }
    #expect(answer.status == 404 && answer.word == "NOT_FOUND" && answer.errorCode == nil)
  }

  @Test(arguments: ["/v1/projects/orca-sandbox/messages", "/v2/projects/orca-sandbox/messages:send", "/"])
  func `Another path is answered with a page`(path: String) async throws {
    let answer = try await answer(#"{"message":{"token":"a"}}"#) { client in await client.use(path: path) }
    #expect(answer.status == 404 && answer.json == nil)
  }

  @Test(arguments: [
    ("UNREGISTERED", 404, "NOT_FOUND"), ("SENDER_ID_MISMATCH", 403, "PERMISSION_DENIED"),
    ("QUOTA_EXCEEDED", 429, "RESOURCE_EXHAUSTED"), ("UNAVAILABLE", 503, "UNAVAILABLE"), ("INTERNAL", 500, "INTERNAL"),
    ("THIRD_PARTY_AUTH_ERROR", 401, "UNAUTHENTICATED"), ("INVALID_ARGUMENT", 400, "INVALID_ARGUMENT"),
  ])
  func `A script's code comes in Google's shape`(code: String, status: Int, word: String) async throws {
    let sandbox = try await SharedSandbox.running
    let token = ApplePush.freshToken()
    try await sandbox.script(
      #"{"rules":[{"token":"\#(token)","steps":[{"reason":"\#(code)","headers":{"Retry-After":"7"}}]}]}"#)
    let answer = try await answer(#"{"message":{"token":"\#(token)"}}"#)
    #expect(answer.status == status && answer.word == word && answer.errorCode == code)
    #expect(answer.headers["retry-after"] == "7")
  }

  @Test func `A script's page is sent as it stands`() async throws {
    let sandbox = try await SharedSandbox.running
    let token = ApplePush.freshToken()
    try await sandbox.script(
      #"""
      {"rules":[{"token":"\#(token)","steps":[{"status":502,"body":"<html>","headers":{"content-type":"text/html"}}]}]}
      """#)
    let answer = try await answer(#"{"message":{"token":"\#(token)"}}"#)
    #expect(answer.status == 502 && answer.json == nil && answer.headers["content-type"] == "text/html")
  }
}

extension GoogleClient {
  func use(authorization: String) { self.authorization = authorization }
  func use(path: String) { self.path = path }
}
