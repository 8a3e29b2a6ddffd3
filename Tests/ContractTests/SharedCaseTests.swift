import Contract
import Json
import Keys
import Testing

/// The cases that other implementations of the contract are held to as well.
@Suite struct SharedCaseTests {
  struct BodyCase: Sendable, CustomTestStringConvertible {
    let door: Door
    let body: JsonValue
    let isValid: Bool
    let number: Int

    var testDescription: String { "\(number): \(door.rawValue) \(isValid ? "taken" : "refused")" }
  }

  static let bodies: [BodyCase] = read("requests.json", member: "body")
  static let rawBodies: [BodyCase] = read("raw-bodies.json", member: "raw")
  static let collapseIds: [JsonValue] = (try? CaseFile.values("collapse-ids.json")) ?? []

  private static func read(_ file: String, member: String) -> [BodyCase] {
    ((try? CaseFile.values(file)) ?? []).enumerated().compactMap { number, value in
      guard let path = value["path"]?.string, let door = Door(rawValue: path), let body = value[member],
        let isValid = value["valid"]?.bool
      else { return nil }
      return BodyCase(door: door, body: body, isValid: isValid, number: number)
    }
  }

  @Test func `No case is lost in reading the files`() {
    #expect(Self.bodies.count == 90)
    #expect(Self.rawBodies.count == 8)
    #expect(Self.collapseIds.count == 4)
  }

  @Test(arguments: bodies)
  func `A body is taken or refused as the case says`(of case: BodyCase) {
    #expect(isRefused { try `case`.door.read(`case`.body) } == !`case`.isValid)
  }

  @Test(arguments: bodies)
  func `A body that went over the wire is taken or refused as the case says`(of case: BodyCase) {
    #expect(isRefused { try `case`.door.read(JsonText.render(`case`.body)) } == !`case`.isValid)
  }

  @Test(arguments: rawBodies)
  func `A raw text is taken or refused as the case says`(of case: BodyCase) throws {
    let raw = try #require(`case`.body.string)
    #expect(isRefused { try `case`.door.read(raw) } == !`case`.isValid)
  }

  @Test(arguments: collapseIds)
  func `The collapse id is the digest of host and identity`(of case: JsonValue) throws {
    var bent = Bent.notification.with("notificationSeq", `case`["notificationSeq"])
      .with("notificationEpoch", `case`["notificationEpoch"])
    let id = try #require(`case`["notificationId"])
    bent = bent.with("notificationId", id == .null ? nil : id)
    let text = CollapseId.text(
      hostFingerprint: try #require(`case`["hostFingerprint"]?.string), try Notification(request: bent.value))
    let collapseId = Sha256.hex(text)
    #expect(collapseId == `case`["apnsCollapseId"]?.string)
    #expect(collapseId == `case`["fcmTag"]?.string)
    #expect(String(Sha256.hex(collapseId).prefix(32)) == `case`["fcmCollapseKey"]?.string)
  }

  @Test func `The epoch and not the id counts only where there is no id`() throws {
    let one = try Notification(request: Bent.notification.value)
    var other = one
    other.epoch = "e-2"
    other.seq = 9
    #expect(CollapseId.text(hostFingerprint: "f", one) == CollapseId.text(hostFingerprint: "f", other))
    var bell = one
    bell.notificationId = nil
    var next = bell
    next.seq += 1
    #expect(CollapseId.text(hostFingerprint: "f", bell) != CollapseId.text(hostFingerprint: "f", next))
    #expect(String(decoding: CollapseId.text(hostFingerprint: "f", bell), as: UTF8.self) == #"["f",["e-1",1]]"#)
  }
}
