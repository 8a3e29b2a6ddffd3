import Http
import Json
import Loop
import Testing

@testable import sandbox

@LoopActor
struct TrayTests {
  private let tray = Tray()

  private func orca(_ seq: Int, id: String? = "n", host: String = "h", epoch: String = "e", kind: String? = nil)
    -> String
  {
    let parts = [
      kind.map { "\"kind\":\"\($0)\"" }, "\"hostFingerprint\":\"\(host)\"", id.map { "\"notificationId\":\"\($0)\"" },
      "\"notificationSeq\":\(seq)", "\"notificationEpoch\":\"\(epoch)\"",
    ]
    return "{" + parts.compactMap { $0 }.joined(separator: ",") + "}"
  }

  private func alert(_ title: String, _ orca: String, collapse: String? = nil, sound: Bool = true) throws {
    var fields: HttpHeaders = ["apns-topic": "app", "apns-push-type": "alert"]
    if let collapse { fields.add("apns-collapse-id", collapse) }
    let body =
      #"{"aps":{"alert":{"title":"\#(title)","body":"b"}\#(sound ? #","sound":"default""# : "")},"orca":\#(orca)}"#
    try receive(fields, body)
  }

  private func dismiss(_ orca: String) throws {
    try receive(
      ["apns-topic": "app", "apns-push-type": "background", "apns-priority": "5"],
      #"{"aps":{"content-available":1},"orca":\#(orca)}"#)
  }

  private func receive(_ fields: HttpHeaders, _ body: String) throws {
    let headers = try ApnsHeaders(fields, topics: ["app"])
    let payload = try ApnsPayload(Array(body.utf8), type: headers.pushType)
    tray.receive(ApnsPush(token: "aa", headers: headers, payload: payload), .production)
  }

  private func send(_ message: String) throws { tray.receive(try FcmMessage(Array("{\"message\":\(message)}".utf8))) }

  private func phones() throws -> [JsonValue] { try JsonReader.read(tray.text)["phones"]?.array ?? [] }

  private func titles() throws -> [String?] {
    try phones().first?["notifications"]?.array?.map { $0["title"]?.string } ?? []
  }

  @Test func `The newest notification stands first`() throws {
    try alert("one", orca(1, id: "a"))
    try alert("two", orca(2, id: "b"))
    #expect(try titles() == ["two", "one"])
  }

  @Test func `The same collapse id takes the place of the one before`() throws {
    try alert("one", orca(1), collapse: "c")
    try alert("other", orca(1, id: "o"), collapse: "d")
    try alert("two", orca(2), collapse: "c")
    #expect(try titles() == ["two", "other"])
    #expect(try phones()[0]["notifications"]?.array?.first?["replaced"] == .integer(1))
  }

  @Test func `Without a collapse id nothing is replaced`() throws {
    try alert("one", orca(1))
    try alert("two", orca(1))
    #expect(try titles() == ["two", "one"])
  }

  @Test(arguments: [
    ("n", "h", "e", 5, true), ("n", "h", "e", 6, true), ("n", "h", "e", 4, false), ("m", "h", "e", 5, false),
    ("n", "i", "e", 5, false), ("n", "h", "f", 5, false),
  ])
  func `A dismissal takes away what is of its host, epoch and id, and not newer`(
    id: String, host: String, epoch: String, seq: Int, taken: Bool
  ) throws {
    try alert("one", orca(5))
    try dismiss(orca(seq, id: id, host: host, epoch: epoch, kind: "dismiss"))
    #expect(try titles() == (taken ? [] : ["one"]))
    #expect(try phones()[0]["dismissed"] == .integer(taken ? 1 : 0))
    #expect(try phones()[0]["received"] == .integer(2))
  }

  @Test func `A background push that is no dismissal changes no screen`() throws {
    try alert("one", orca(5))
    try dismiss(orca(9))
    #expect(try titles() == ["one"])
  }

  @Test func `A push without sound is silent`() throws {
    try alert("loud", orca(1, id: "a"))
    try alert("quiet", orca(2, id: "b"), sound: false)
    #expect(try phones()[0]["notifications"]?.array?.map { $0["silent"] } == [.bool(true), .bool(false)])
  }

  @Test func `FCM's notification form shows texts, tag and silence`() throws {
    try send(
      #"""
      {"token":"t","notification":{"title":"T","body":"B"},"android":{"notification":{"channel_id":"orca-desktop-silent",
      "tag":"x"}},"data":{"hostFingerprint":"h","notificationEpoch":"e","notificationSeq":"1","notificationId":"n"}}
      """#)
    let one = try phones()[0]["notifications"]?.array?.first
    #expect(one?["title"] == .string("T") && one?["body"] == .string("B"))
    #expect(one?["silent"] == .bool(true) && one?["collapseId"] == .string("x"))
  }

  @Test func `FCM's data form is shown as the app shows it, and dismissed by data`() throws {
    try send(
      #"""
      {"token":"t","data":{"title":"T","message":"B","tag":"x","channelId":"orca-desktop","sound":"",
      "hostFingerprint":"h","notificationEpoch":"e","notificationSeq":"3","notificationId":"n"}}
      """#)
    let one = try phones()[0]["notifications"]?.array?.first
    #expect(one?["title"] == .string("T") && one?["body"] == .string("B") && one?["silent"] == .bool(true))
    try send(
      #"""
      {"token":"t","data":{"kind":"dismiss","hostFingerprint":"h","notificationEpoch":"e","notificationSeq":"3",
      "notificationId":"n"}}
      """#)
    #expect(try titles() == [])
  }

  @Test func `Phones and their notifications are bounded`() throws {
    for place in 0..<(Tray.notificationLimit + 5) { try alert("\(place)", orca(place, id: "\(place)")) }
    #expect(try titles().count == Tray.notificationLimit)
    #expect(try titles().first == "\(Tray.notificationLimit + 4)")
    for place in 0..<(Tray.phoneLimit + 5) { try send(#"{"token":"t\#(place)","notification":{"title":"T"}}"#) }
    #expect(try phones().count == Tray.phoneLimit)
    #expect(try phones().contains { $0["token"] == .string("aa") } == false)
  }
}
