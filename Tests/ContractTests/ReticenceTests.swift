import Contract
import Json
import Testing

/// Rulings 1.1: `detail` never holds anything from the request's own values. A name that the request made up is told where
/// it can be a slip of the pen.
@Suite struct ReticenceTests {
  static let marker = "s3cr3tMarker"

  /// Values that carry the marker in every form a member may have.
  static let values: [JsonValue] = [
    .string(marker), .string(marker + "\u{1}"), .string(marker + "é"), .string(String(repeating: marker, count: 400)),
    .array([.string(marker)]), .array(Array(repeating: .string(marker + "\u{7}"), count: 2)),
    .object([marker: .string(marker)]), .integer(424_242_424_242), .number(424_242.424_242), .integer(-424_242_424_242),
  ]

  private func expectReticent(_ read: () throws -> Void) {
    do { try read() } catch {
      let detail = (error as? InvalidRequest)?.detail ?? "\(error)"
      #expect(!detail.contains("s3cr3t") && !detail.contains("424242"), "\(detail)")
      #expect(!"\(error)".contains("s3cr3t"))
    }
  }

  @Test(arguments: Door.allCases)
  func `A refused value is not repeated`(door: Door) {
    for name in door.sample.members.map(\.key) {
      for value in Self.values { expectReticent { try door.read(door.sample.with(name, value).bytes) } }
    }
  }

  @Test(arguments: Door.allCases)
  func `What an unknown member holds is not repeated`(door: Door) {
    for value in Self.values + [1, .null] {
      let bent = door.sample.with("extra", value)
      #expect(throws: InvalidRequest.self) { try door.read(bent.bytes) }
      expectReticent { try door.read(bent.bytes) }
    }
  }

  /// Names that are no slip of the pen: texts, controls, and what is as long as a token.
  static let names = [
    marker + " ", marker + "\u{7}", marker + "é", marker + "\u{1b}[31m", String(repeating: marker, count: 4),
    marker + String(repeating: "a", count: 41 - marker.count),
  ]

  @Test(arguments: Door.allCases)
  func `An unknown name that is long or not printable is not repeated`(door: Door) {
    for name in Self.names {
      let bent = door.sample.with(name, 1)
      #expect(throws: InvalidRequest.self) { try door.read(bent.bytes) }
      expectReticent { try door.read(bent.bytes) }
    }
  }

  @Test func `No value and no such name of the notification is repeated`() {
    let names = Bent.notification.members.map(\.key) + ["kind", "sound", "expiresAt", "paneKey", "executionHost"]
    for value in Self.values {
      for name in names { expectReticent { try Door.send.read(Bent.notification.with(name, value).send.bytes) } }
      for name in Self.names + ["extra"] {
        expectReticent { try Door.send.read(Bent.notification.with(name, value).send.bytes) }
      }
    }
  }

  @Test(arguments: Door.allCases)
  func `What is no JSON is not repeated`(door: Door) {
    for text in [
      Self.marker, "{\(Self.marker)", #"{"\#(Self.marker)"#, #"{"\#(Self.marker)":}"#, #"{"v":1} \#(Self.marker)"#,
      #"{"\#(Self.marker)":1,"\#(Self.marker)":1}"#, #"{"v":"\#(Self.marker)\q"}"#,
    ] {
      #expect(throws: JsonFault.self) { try door.read(text) }
      expectReticent { try door.read(text) }
    }
  }
}
