import Contract
import Http
import Json
import Operations
import Testing

@testable import Providers

@Suite("Requests to Google")
struct FcmRequestTests {
  private let tag = "be81a21d700c198ab9bc6351d0e00e5bfacc3de081af90ed7048e8ade7ff788a"
  private let key = "6190a04c5fc12b731b8d422e167605e0"
  private let fields =
    #""hostFingerprint":"D20lU_8MD0R64gLt","worktreeId":"w/ü","paneKey":"p:0","#
    + #""executionHost":"runtime:box","notificationId":"n-1","notificationSeq":"7","notificationEpoch":"e","#
    + #""source":"terminal-bell","agentState":"needs-input""#

  private func request(_ push: Push, _ form: FcmSettings.Alerts = .notification) -> Http2ClientRequest {
    .fcm(push, form)
  }

  @Test("The head is the API's")
  func head() {
    #expect(
      request(.test(.full(), .fcm)).lines
        == [
          ":method: POST", ":scheme: https", ":authority: provider.test",
          ":path: /v1/projects/onorca-cloud/messages:send (never indexed)",
          "authorization: Bearer ya29 (never indexed)",
          "content-type: application/json",
        ])
  }

  @Test("An alert in the contract's form", arguments: [false, true])
  func notification(_ isSilent: Bool) {
    #expect(
      request(.test(.full(), .fcm, isSilent: isSilent)).text
        == #"{"message":{"token":"ABcd12","notification":{"title":"T \"1\"","body":"B\n2"},"#
        + #""android":{"priority":"HIGH","ttl":"299s","collapse_key":"\#(key)","notification":{"#
        + #""channel_id":"orca-desktop\#(isSilent ? "-silent" : "")","tag":"\#(tag)"}},"#
        + #""data":{"kind":"alert",\#(fields)}}}"#)
  }

  @Test("An alert that the app shows", arguments: [false, true])
  func data(_ isSilent: Bool) {
    #expect(
      request(.test(.full(), .fcm, isSilent: isSilent), .data).text
        == #"{"message":{"token":"ABcd12","android":{"priority":"HIGH","ttl":"299s"},"#
        + #""data":{"kind":"alert",\#(fields),"title":"T \"1\"","message":"B\n2","tag":"\#(tag)","#
        + #""channelId":"orca-desktop\#(isSilent ? "-silent\",\"sound\":\"" : "")"}}}"#)
  }

  @Test(
    "A dismissal shows and sounds nothing, whatever the form", arguments: FcmSettings.Alerts.allCases, [false, true])
  func dismissal(_ form: FcmSettings.Alerts, _ isSilent: Bool) {
    #expect(
      request(.test(.full { $0.statedKind = .dismiss }, .fcm, isSilent: isSilent), form).text
        == #"{"message":{"token":"ABcd12","android":{"priority":"NORMAL","ttl":"299s"},"#
        + #""data":{"kind":"dismiss",\#(fields)}}}"#)
  }

  @Test("What is absent or null is left out, and every value is a string")
  func absent() throws {
    let message = try JsonReader.read(request(.test(.plain(), .fcm)).body)["message"]
    let members = try #require(message?["data"]?.object).members
    #expect(
      members.map(\.key) == ["hostFingerprint", "notificationSeq", "notificationEpoch", "source"])
    #expect(members.allSatisfy { $0.value.string != nil })
  }

  @Test(
    "The life left is whole seconds, rounded down, 300 at most",
    arguments: [
      (Int64(1_000_000), "300s"), (300_000, "300s"), (299_999, "299s"), (1_000, "1s"), (999, "0s"), (0, "0s"),
      (-5, "0s"),
    ])
  func life(_ remaining: Int64, _ ttl: String) throws {
    for form in FcmSettings.Alerts.allCases {
      let body = request(.test(.full(), .fcm, remaining: remaining), form).body
      #expect(try JsonReader.read(body)["message"]?["android"]?["ttl"]?.string == ttl)
    }
  }

  @Test(
    "A notification of 3000 bytes leaves the message below 4000 without its token",
    arguments: FcmSettings.Alerts.allCases)
  func worstCase(_ form: FcmSettings.Alerts) throws {
    var notification = Notification.full { $0.epoch = String(repeating: "e", count: 128) }
    notification.title = String(repeating: "\u{1}", count: 80)
    let left = Limits.notificationBytes - notification.stored.count
    notification.notificationId? += String(repeating: "f", count: left)
    #expect(notification.stored.count == Limits.notificationBytes)
    let body = request(.test(notification, .fcm, token: "", isSilent: true), form).body
    #expect(body.count <= 4_000)
    // Google counts keys and values of the data: 4096 bytes at most.
    let data = try #require(try JsonReader.read(body)["message"]?["data"]?.object)
    #expect(data.members.reduce(0) { $0 + $1.key.utf8.count + ($1.value.string ?? "").utf8.count } <= 4_096)
  }
}
