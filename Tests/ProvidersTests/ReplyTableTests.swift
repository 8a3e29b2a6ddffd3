import Contract
import Testing

@testable import Providers

@Suite("Reply table")
struct ReplyTableTests {
  private func apns(_ status: Int, _ body: String = "", retryAfter: String? = nil) -> Reply {
    ReplyTable.reply(
      to: ProviderAnswer(
        status: status, body: Array(body.utf8), apnsId: "ID", retryAfter: retryAfter, registeredAt: lastRegistered,
        now: lastRegistered), route: .apnsProduction)
  }

  private func fcm(_ status: Int, _ body: String = "", retryAfter: String? = nil, fresh: Bool = false) -> Reply {
    ReplyTable.reply(
      to: ProviderAnswer(
        status: status, body: Array(body.utf8), retryAfter: retryAfter, registeredAt: lastRegistered,
        credentialIsFresh: fresh, now: lastRegistered), route: .fcm)
  }

  private func error(_ status: String, message: String = "m", details: String = "") -> String {
    #"{"error":{"code":0,"message":"\#(message)","status":"\#(status)","details":[\#(details)]}}"#
  }

  private func code(_ code: String) -> String {
    #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#
  }

  private func violation(_ field: String) -> String {
    #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(field)"}]}"#
  }

  @Test("An acceptance carries the provider's id")
  func accepted() {
    #expect(apns(200) == .accepted(id: "ID"))
    #expect(fcm(200, #"{"name":"projects/p/messages/1"}"#) == .accepted(id: "projects/p/messages/1"))
    #expect(fcm(200, "<html>") == .accepted(id: nil))
  }

  @Test("Each row of Apple's table is reached", arguments: ReplyTable.apns.map { ($0.status, $0.reason) })
  func appleRow(_ status: Int, _ reason: String) {
    let reply = apns(status, #"{"reason":"\#(reason)"}"#)
    #expect(reply.reason == reason)
    #expect(reply.label == reason)
  }

  @Test("Only what a fault of ours can look like is suspicious")
  func suspicion() {
    #expect(
      apns(400, #"{"reason":"BadDeviceToken"}"#)
        == .dead(reason: "BadDeviceToken", registeredBefore: nil, isSuspicious: true))
    #expect(
      apns(400, #"{"reason":"DeviceTokenNotForTopic"}"#)
        == .dead(reason: "DeviceTokenNotForTopic", registeredBefore: nil, isSuspicious: true))
    #expect(
      apns(400, #"{"reason":"Unregistered"}"#)
        == .dead(reason: "Unregistered", registeredBefore: nil, isSuspicious: false))
    #expect(
      fcm(403, error("PERMISSION_DENIED", details: code("SENDER_ID_MISMATCH")))
        == .dead(reason: "SENDER_ID_MISMATCH", registeredBefore: nil, isSuspicious: true))
    #expect(
      fcm(404, error("NOT_FOUND", details: code("UNREGISTERED")))
        == .dead(reason: "UNREGISTERED", registeredBefore: nil, isSuspicious: false))
  }

  @Test("A 410 kills only what was registered before its timestamp")
  func timestamps() {
    func gone(_ timestamp: Int64) -> Reply { apns(410, #"{"reason":"Unregistered","timestamp":\#(timestamp)}"#) }
    #expect(gone(lastRegistered - 1) == .againOnce(reason: "Unregistered"))
    #expect(gone(lastRegistered) == .againOnce(reason: "Unregistered"))
    #expect(
      gone(lastRegistered + 1)
        == .dead(reason: "Unregistered", registeredBefore: lastRegistered + 1, isSuspicious: false))
    // Without one, a registration renewed since it was read stays alive.
    #expect(
      apns(410, #"{"reason":"ExpiredToken"}"#)
        == .dead(reason: "ExpiredToken", registeredBefore: lastRegistered + 1, isSuspicious: false))
  }

  @Test("A 410 that Apple has not written down kills, and is held against a flood of them")
  func strangeGone() {
    for body in ["", "{}", #"{"reason":"New"}"#, #"{"reason":"New","timestamp":true}"#] {
      guard case .dead(_, lastRegistered + 1, isSuspicious: true) = apns(410, body) else {
        Issue.record("not dead by suspicion: \(body)")
        continue
      }
    }
    #expect(
      apns(410, #"{"reason":"New","timestamp":\#(lastRegistered + 9)}"#)
        == .dead(reason: "New", registeredBefore: lastRegistered + 9, isSuspicious: true))
    #expect(apns(410, #"{"reason":"New","timestamp":\#(lastRegistered)}"#) == .againOnce(reason: "New"))
  }

  @Test("Reasons that nobody wrote down fall to their status's class, and are kept")
  func unknownReasons() {
    #expect(apns(400, #"{"reason":"New"}"#) == .failed(reason: "New"))
    #expect(apns(403, #"{"reason":"New"}"#) == .park(reason: "New"))
    #expect(apns(403) == .park(reason: "HTTP 403"))
    #expect(apns(410, #"{"reason":"New"}"#).reason == "New")
    #expect(apns(429, #"{"reason":"New"}"#) == .again(reason: "New", minimum: 0))
    #expect(apns(599, #"{"reason":"New"}"#) == .again(reason: "New", minimum: 0))
    #expect(apns(503, "<html>") == .again(reason: "HTTP 503", minimum: 0))
    #expect(apns(302) == .again(reason: "HTTP 302", minimum: 0))
    #expect(fcm(403, error("NEW")) == .park(reason: "NEW"))
    #expect(fcm(404, error("NOT_FOUND", details: code("NEW"))) == .park(reason: "NEW"))
    #expect(fcm(400, error("INVALID_ARGUMENT", details: code("NEW"))) == .failed(reason: "NEW"))
    #expect(fcm(409, error("ABORTED")) == .failed(reason: "ABORTED"))
    #expect(Reply.park(reason: "tls: no trust").label == "tls")
    #expect(Reply.accepted(id: nil).label == "accepted")
  }

  @Test(
    "A body that cannot be read is not the provider's word, so what it would have ended comes again",
    arguments: ["<html>", "{\"reason\":\"BadDeviceTok", "\u{0}"])
  func unreadable(_ body: String) {
    for status in [400, 404, 405, 413, 418] {
      #expect(apns(status, body) == .again(reason: "HTTP \(status)", minimum: 0))
    }
    for status in [400, 409, 418] { #expect(fcm(status, body) == .again(reason: "HTTP \(status)", minimum: 10_000)) }
    #expect(fcm(400, body, retryAfter: "25") == .again(reason: "HTTP 400", minimum: 25_000))
    // What parks or kills by its status alone does so whatever it says.
    #expect(apns(403, body) == .park(reason: "HTTP 403"))
    #expect(fcm(404, body) == .park(reason: "HTTP 404"))
    #expect(apns(410, body) == .dead(reason: "HTTP 410", registeredBefore: lastRegistered + 1, isSuspicious: true))
  }

  @Test("No body, and one that can be read and says nothing, leave it to the status", arguments: ["", "{}", "[]", "7"])
  func silent(_ body: String) {
    #expect(apns(400, body) == .failed(reason: "HTTP 400"))
    #expect(fcm(400, body) == .failed(reason: "HTTP 400"))
  }

  @Test("A reason is printable ASCII and at most 100 characters")
  func bounded() {
    let long = String(repeating: "x", count: 5_000)
    #expect(apns(400, #"{"reason":"a\u0000é\n\#(long)"}"#) == .failed(reason: "a" + String(long.prefix(99))))
    #expect(fcm(418, error(long)).reason?.utf8.count == 100)
    // Nothing that can be printed is no reason.
    for empty in ["", "\u{600}"] {
      #expect(apns(400, #"{"reason":"\#(empty)"}"#) == .failed(reason: "HTTP 400"))
      #expect(fcm(418, error(empty)) == .failed(reason: "HTTP 418"))
    }
  }

  @Test("INVALID_ARGUMENT is the token's death only where the token is named")
  func tokenNamed() {
    let fcmCode = code("INVALID_ARGUMENT")
    func isDead(_ body: String) -> Bool {
      if case .dead(_, _, false) = fcm(400, body) { true } else { false }
    }
    #expect(isDead(error("INVALID_ARGUMENT", details: "\(violation("message.token")),\(fcmCode)")))
    #expect(isDead(error("INVALID_ARGUMENT", details: "\(fcmCode),\(violation("message.token"))")))
    #expect(isDead(error("INVALID_ARGUMENT", details: violation("message.fid"))))
    #expect(isDead(error("INVALID_ARGUMENT", message: "The registration token is not valid")))
    #expect(!isDead(error("INVALID_ARGUMENT", details: "\(fcmCode),\(violation("message.data[0].value"))")))
    #expect(!isDead(error("INVALID_ARGUMENT", details: fcmCode)))
    #expect(!isDead(error("INVALID_ARGUMENT", message: "registration token", details: violation("message.data"))))
    #expect(!isDead(error("FAILED_PRECONDITION", details: violation("message.token"))))
    #expect(!isDead("registration token"))
  }

  @Test("Trouble on Google's side never kills or fails, whatever its body says")
  func serverTrouble() {
    for status in [429, 500, 502, 503, 504] {
      for word in ["UNREGISTERED", "SENDER_ID_MISMATCH", "INVALID_ARGUMENT", "THIRD_PARTY_AUTH_ERROR"] {
        guard case .again = fcm(status, error("X", details: code(word))) else {
          Issue.record("\(status) \(word)")
          continue
        }
      }
    }
    #expect(
      fcm(400, error("UNKNOWN", details: code("UNSPECIFIED_ERROR")))
        == .again(reason: "UNSPECIFIED_ERROR", minimum: 10_000))
  }

  @Test("Google's 401 renews the access token once")
  func unauthenticated() {
    #expect(fcm(401, error("UNAUTHENTICATED")) == .refreshCredential(reason: "UNAUTHENTICATED"))
    #expect(fcm(401, "<html>") == .refreshCredential(reason: "HTTP 401"))
    #expect(fcm(401, error("UNAUTHENTICATED"), fresh: true) == .park(reason: "UNAUTHENTICATED"))
    #expect(
      fcm(401, error("UNAUTHENTICATED", details: code("APNS_AUTH_ERROR"))) == .park(reason: "APNS_AUTH_ERROR"))
  }

  @Test("The longest wait that anybody asks for holds")
  func minimum() {
    let unavailable = error("UNAVAILABLE", details: code("UNAVAILABLE"))
    #expect(fcm(503, unavailable, retryAfter: "3") == .again(reason: "UNAVAILABLE", minimum: 10_000, isUnknown: true))
    #expect(fcm(503, unavailable, retryAfter: "25") == .again(reason: "UNAVAILABLE", minimum: 25_000, isUnknown: true))
    #expect(fcm(429, error("RESOURCE_EXHAUSTED"), retryAfter: "7").reason == "RESOURCE_EXHAUSTED")
    #expect(fcm(429, retryAfter: "61") == .again(reason: "HTTP 429", minimum: 61_000))
    #expect(fcm(429, retryAfter: "soon") == .again(reason: "HTTP 429", minimum: 60_000))
    let delay = #"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"70.5s"}"#
    #expect(fcm(429, error("X", details: delay)) == .again(reason: "X", minimum: 70_500))
    #expect(
      apns(429, #"{"reason":"TooManyRequests"}"#, retryAfter: "9") == .again(reason: "TooManyRequests", minimum: 9_000))
    #expect(apns(503) == .again(reason: "HTTP 503", minimum: 0))
  }
}
