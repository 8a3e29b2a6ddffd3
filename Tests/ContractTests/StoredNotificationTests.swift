import Contract
import Json
import Testing

/// What is kept of a notification, and what two sends of one identity are compared by (rulings 4.1 and 4.2).
@Suite struct StoredNotificationTests {
  /// The plainest, the fullest, and each with one optional member.
  static let bents: [Bent] =
    [.notification, full, .dismissal, .notification.with("agentState", .null)]
    + full.members.filter { optional.contains($0.key) }.map { full.with($0.key, nil) }
    + full.members.filter { optional.contains($0.key) }.map { Bent.notification.with($0.key, $0.value) }

  static let optional = ["kind", "notificationId", "worktreeId", "paneKey", "executionHost", "expiresAt", "sound"]

  static let full = Bent([
    "kind": "alert", "notificationId": "n-1", "notificationSeq": 1, "notificationEpoch": "e-1", "source": "plugin",
    "agentState": "needs-input", "title": "T\"\\\u{0}\u{1f}\u{2028}😀é", "body": "b\r\n", "worktreeId": "w",
    "paneKey": "p", "executionHost": "runtime:h", "expiresAt": 4_000_000_000_000, "sound": .bool(false),
  ])

  private func notification(_ bent: Bent) throws -> Notification { try Notification(request: bent.value) }

  @Test(arguments: bents.indices)
  func `What was stored reads back equal, but for the sound`(index: Int) throws {
    var sent = try notification(Self.bents[index])
    let read = try Notification(stored: sent.stored)
    #expect(read.sound == nil)
    sent.sound = nil
    #expect(read == sent)
    #expect(read.stored == sent.stored)
    #expect(read.title.utf8.elementsEqual(sent.title.utf8))
    #expect(CollapseId.text(hostFingerprint: "f", read) == CollapseId.text(hostFingerprint: "f", sent))
  }

  @Test func `The largest notification can be stored and read back`() throws {
    let bare = Bent.notification.with("worktreeId", "").with("paneKey", "").bytes.count
    let bent = Bent.notification.with("worktreeId", .string(String(repeating: "w", count: 2000)))
      .with("paneKey", .string(String(repeating: "\u{1}", count: (3000 - bare - 2000) / 6)))
    let sent = try notification(bent)
    #expect(try Notification(stored: sent.stored) == sent)
  }

  @Test func `Order and spelling of the JSON are no content`() throws {
    let one = try notification(Self.full)
    let other = try notification(Bent(JsonObject(Self.full.members.reversed())))
    #expect(one.content == other.content)
    #expect(one.stored == other.stored)
  }

  @Test func `Sound is no content, nor whether an alert says so`() throws {
    let one = try notification(Self.full).content
    for sound in [nil, .bool(true), .bool(false)] as [JsonValue?] {
      #expect(try notification(Self.full.with("sound", sound)).content == one)
      #expect(try notification(Self.full.with("sound", sound).with("kind", nil)).content == one)
    }
    #expect(try notification(Self.full.with("kind", "dismiss")).content != one)
  }

  @Test func `Everything else is content`() throws {
    let one = try notification(Self.full).content
    let changes: [(String, JsonValue?)] = [
      ("notificationId", "n-2"), ("notificationId", nil), ("notificationSeq", 2), ("notificationEpoch", "e-2"),
      ("source", "terminal-bell"), ("agentState", "finished"), ("agentState", .null), ("title", "T"), ("body", "b\n"),
      ("body", ""), ("worktreeId", "w2"), ("worktreeId", nil), ("paneKey", "p2"), ("paneKey", nil),
      ("executionHost", "runtime:i"), ("executionHost", nil), ("expiresAt", 4_000_000_000_001), ("expiresAt", nil),
      ("title", "T\"\\\u{0}\u{1f}\u{2028}😀e\u{301}"),
    ]
    var seen = [one]
    for (name, value) in changes {
      let content = try notification(Self.full.with(name, value)).content
      #expect(!seen.contains(content), "\(name)")
      seen.append(content)
    }
  }

  @Test func `A value cannot pass for another member`() throws {
    let one = try notification(.notification.with("worktreeId", #"w","paneKey":"p"#))
    let other = try notification(.notification.with("worktreeId", "w").with("paneKey", "p"))
    #expect(one.content != other.content)
  }

  @Test(arguments: ["", "null", "[]", "{}", #"{"title":"t"}"#, "\u{0}"])
  func `Bytes that are no stored notification are refused`(text: String) {
    #expect(throws: InvalidRequest.self) { try Notification(stored: Array(text.utf8)) }
  }

  @Test func `An emptied payload is refused`() throws {
    #expect(throws: InvalidRequest.self) { try Notification(stored: []) }
  }
}
