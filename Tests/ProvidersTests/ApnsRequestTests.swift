import Contract
import Http
import Json
import Testing

@testable import Providers

@Suite("Requests to Apple")
struct ApnsRequestTests {
  private func request(_ push: Push) -> Http2ClientRequest { .apns(push) }

  @Test("An alert's head is the contract's, in order")
  func alertHead() {
    let id = "be81a21d700c198ab9bc6351d0e00e5bfacc3de081af90ed7048e8ade7ff788a"
    #expect(
      request(.test(.full())).lines == [
        ":method: POST", ":scheme: https", ":authority: provider.test",
        ":path: /3/device/ABcd12 (never indexed)",
        "authorization: bearer J.W.T (never indexed)",
        "apns-topic: com.stably.orca.mobile",
        "apns-push-type: alert",
        "apns-priority: 10",
        "apns-expiration: 1900000123 (never indexed)",
        "apns-id: 00010203-0405-4607-8809-0a0b0c0d0e0f (never indexed)",
        "apns-collapse-id: \(id) (never indexed)",
      ])
  }

  @Test("A dismissal is a background push of priority 5 without a collapse id")
  func dismissalHead() {
    let request = request(.test(.full { $0.statedKind = .dismiss }))
    #expect(request.head["apns-push-type"] == "background")
    #expect(request.head["apns-priority"] == "5")
    #expect(request.head["apns-collapse-id"] == nil)
    #expect(request.head["apns-id"] == "00010203-0405-4607-8809-0a0b0c0d0e0f")
  }

  @Test("Bodies are these bytes")
  func bodies() {
    let alert = #"{"aps":{"alert":{"title":"T \"1\"","body":"B\n2"},"#
    let fingerprint = #""hostFingerprint":"D20lU_8MD0R64gLt""#
    let thread = #""thread-id":"D20lU_8MD0R64gLt"}"#
    let rest = #","notificationSeq":7,"notificationEpoch":"e","source":"terminal-bell","agentState":"#
    let routing = #","worktreeId":"w/ü","paneKey":"p:0","executionHost":"runtime:box","notificationId":"n-1""#

    #expect(
      request(.test(.plain())).text
        == alert + #""sound":"default","# + thread + #","orca":{"# + fingerprint + rest + "null}}")
    #expect(
      request(.test(.plain(), isSilent: true)).text
        == alert + thread + #","orca":{"# + fingerprint + rest + "null}}")
    #expect(
      request(.test(.full())).text
        == alert + #""sound":"default","# + thread + #","orca":{"kind":"alert","# + fingerprint + routing + rest
        + #""needs-input"}}"#)
    for isSilent in [false, true] {
      #expect(
        request(.test(.full { $0.statedKind = .dismiss }, isSilent: isSilent)).text
          == #"{"aps":{"content-available":1},"orca":{"kind":"dismiss","# + fingerprint + routing + rest
          + #""needs-input"}}"#)
    }
  }

  @Test("The whole of a notification of 3000 bytes fits, however its bytes are spent", arguments: [0, 1, 2])
  func worstCase(_ spread: Int) throws {
    // Control characters cost six bytes each in JSON: the most that title and body can weigh.
    var notification = Notification.full {
      $0.title = String(repeating: "\u{1}", count: 80)
      $0.body = String(repeating: "\u{1}", count: 180)
      $0.epoch = String(repeating: "e", count: 128)
      $0.source = .agentTaskComplete
      $0.worktreeId = nil
      $0.paneKey = nil
      $0.executionHost = nil
      $0.expiresAt = nil
      $0.sound = nil
    }
    if spread == 1 { notification.worktreeId = "" }
    if spread == 2 { notification.title = "t" }
    let left = Limits.notificationBytes - notification.stored.count
    let filler = String(repeating: "f", count: left)
    if spread == 1 { notification.worktreeId = filler } else { notification.notificationId? += filler }
    #expect(notification.stored.count == Limits.notificationBytes)
    #expect(request(.test(notification)).body.count <= 3_300)
    #expect(request(.test(notification)).body.count <= ApnsRequest.bodyLimit)
    #expect(
      try JsonReader.read(request(.test(notification)).body)["aps"]?["alert"]?["title"]?.string == notification.title)
  }

  @Test("The id and the body are the same on every attempt")
  func repeats() {
    let first = request(.test(.full()))
    let second = request(.test(.full(), remaining: 1_000))
    #expect(first.lines == second.lines)
    #expect(first.text == second.text)
  }
}

@Suite("Collapse ids")
struct CollapseIdTests {
  @Test("Apple's id, Android's tag and key are those worked out by other means")
  func known() throws {
    for one in try cases("collapse-ids.json") {
      let push = Push.test(
        .plain {
          $0.notificationId = one["notificationId"]?.string
          $0.epoch = one["notificationEpoch"]?.string ?? ""
          $0.seq = one["notificationSeq"]?.integer ?? -1
        }, hostFingerprint: one["hostFingerprint"]?.string ?? "")
      let apns = Http2ClientRequest.apns(push)
      #expect(apns.head["apns-collapse-id"] == one["apnsCollapseId"]?.string)
      let fcm = Http2ClientRequest.fcm(push)
      let android = try JsonReader.read(fcm.body)["message"]?["android"]
      #expect(android?["notification"]?["tag"] == one["fcmTag"])
      #expect(android?["collapse_key"] == one["fcmCollapseKey"])
    }
  }
}
