import Contract
import Json
import Testing

/// Rulings 1.6 and 1.8: the notification of a send, at the edges of its limits.
@Suite struct NotificationTests {
  private static func run(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

  /// Texts of exactly `count` UTF-16 units: one unit of 1, 2 and 3 bytes, pairs, families and combining marks.
  static func texts(_ count: Int) -> [String] {
    [
      run("a", count), run("é", count), run("中", count), run("😀", count / 2) + run("a", count % 2),
      run("e\u{301}", count / 2) + run("a", count % 2), run("👩‍👩‍👧‍👦", count / 11) + run("a", count % 11),
    ]
  }

  private func expectTaken(_ bent: Bent) { #expect(throws: Never.self) { try Door.send.read(bent.send.bytes) } }

  private func expectRefused(_ bent: Bent) {
    #expect(throws: InvalidRequest.self) { try Door.send.read(bent.send.value) }
  }

  @Test func `A title has 1 to 80 UTF-16 units`() {
    for text in Self.texts(80) + ["a", " ", "\n", "\u{0}"] { expectTaken(.notification.with("title", .string(text))) }
    for text in Self.texts(81) + [""] { expectRefused(.notification.with("title", .string(text))) }
  }

  @Test func `A body has 0 to 180 UTF-16 units`() {
    for text in Self.texts(180) + ["", "a"] { expectTaken(.notification.with("body", .string(text))) }
    for text in Self.texts(181) { expectRefused(.notification.with("body", .string(text))) }
  }

  @Test func `A notification id is 1 to 2048 printable ASCII characters, or absent`() {
    let printable = String(decoding: (0x20...0x7e).map { UInt8($0) }, as: UTF8.self)
    for text in ["a", " ", printable, Self.run("i", 2048)] {
      expectTaken(.notification.with("notificationId", .string(text)))
    }
    expectTaken(.notification.with("notificationId", nil))
    for text in ["", Self.run("i", 2049), "é", "a\u{1f}", "\u{7f}", "a\n", "\u{0}", "e\u{301}", "😀"] {
      expectRefused(.notification.with("notificationId", .string(text)))
    }
    expectRefused(.notification.with("notificationId", .null))
  }

  @Test(arguments: ["worktreeId", "paneKey"])
  func `A routing text has 1 to 2048 UTF-16 units of anything, or is absent`(name: String) {
    for text in ["w", " ", Self.run("w", 2048), Self.run("😀", 600), "a\u{0}b", "🏳️‍🌈/\u{301}"] {
      expectTaken(.notification.with(name, .string(text)))
    }
    expectTaken(.notification.with(name, nil))
    for value in ["", .string(Self.run("w", 2049)), .null, 1, ["w"]] as [JsonValue] {
      expectRefused(.notification.with(name, value))
    }
  }

  @Test func `An execution host is runtime: and a name without bar or white space`() {
    for text in [
      "runtime:a", "runtime:runtime:a", "runtime::", "runtime:é/😀", "runtime:" + Self.run("h", 2040),
      "runtime:a\u{200b}",
      "runtime:a\u{0}", "runtime:\u{85}", "runtime:\u{301}",
    ] {
      expectTaken(.notification.with("executionHost", .string(text)))
    }
    expectTaken(.notification.with("executionHost", nil))
    let blanks = [
      " ", "\t", "\n", "\u{b}", "\u{c}", "\r", "\r\n", "\u{a0}", "\u{1680}", "\u{2003}", "\u{2028}", "\u{2029}",
    ]
    for blank in blanks + ["\u{202f}", "\u{205f}", "\u{3000}", "\u{feff}", "|"] {
      for text in ["runtime:\(blank)", "runtime:a\(blank)", "runtime:\(blank)a", "runtime:a\(blank)b"] {
        expectRefused(.notification.with("executionHost", .string(text)))
      }
    }
    for text in ["", "runtime", "runtime:", "Runtime:a", " runtime:a", "host:a", "xruntime:a", "runtime：a"] {
      expectRefused(.notification.with("executionHost", .string(text)))
    }
    expectRefused(.notification.with("executionHost", .string("runtime:" + Self.run("h", 2041))))
    expectRefused(.notification.with("executionHost", .null))
  }

  @Test(arguments: ["notificationSeq", "expiresAt"])
  func `A number is a whole one from 0 to 2^53 - 1`(name: String) {
    for number in [0, 1, 9_007_199_254_740_991] as [Int64] { expectTaken(.notification.with(name, .integer(number))) }
    for number in [-1, 9_007_199_254_740_992, .max, .min] as [Int64] {
      expectRefused(.notification.with(name, .integer(number)))
    }
    for value in [.number(1), .number(1.5), .bool(true), "1", .null, [1]] as [JsonValue] {
      expectRefused(.notification.with(name, value))
    }
    for literal in ["1.0", "1e3", "-0.0", "1E0", "100000000000000000000"] {
      let text = String(decoding: Bent.notification.with(name, "@").send.bytes, as: UTF8.self)
        .replacing(#""@""#, with: literal)
      #expect(throws: InvalidRequest.self, "\(literal)") { try Door.send.read(text) }
    }
  }

  @Test func `A deadline may be left out, a sequence number not`() {
    expectTaken(.notification.with("expiresAt", nil))
    expectRefused(.notification.with("notificationSeq", nil))
  }

  @Test func `Words are taken in their own spelling alone`() throws {
    for source in ["agent-task-complete", "terminal-bell", "plugin"] {
      let read = try Notification(request: Bent.notification.with("source", .string(source)).value)
      #expect(read.source.rawValue == source)
    }
    for state in ["needs-input", "finished"] {
      let read = try Notification(request: Bent.notification.with("agentState", .string(state)).value)
      #expect(read.agentState?.rawValue == state)
    }
    #expect(try Notification(request: Bent.notification.with("agentState", .null).value).agentState == nil)
    for value in ["", "Plugin", "plugin ", "mail", .null, 1, ["plugin"]] as [JsonValue] {
      expectRefused(.notification.with("source", value))
    }
    for value in ["", "working", "Finished", 1, .bool(false)] as [JsonValue] {
      expectRefused(.notification.with("agentState", value))
    }
    for name in ["source", "agentState", "title", "body", "notificationEpoch"] {
      expectRefused(.notification.with(name, nil))
    }
  }

  @Test func `An absent kind is an alert, and a dismissal needs an id`() throws {
    #expect(try Notification(request: Bent.notification.value).kind == .alert)
    #expect(try Notification(request: Bent.notification.value).statedKind == nil)
    #expect(try Notification(request: Bent.notification.with("kind", "alert").value).statedKind == .alert)
    #expect(try Notification(request: Bent.dismissal.value).kind == .dismiss)
    for value in ["", "Alert", "dismissed", .null, 0, .bool(true)] as [JsonValue] {
      expectRefused(.notification.with("kind", value))
    }
    expectRefused(.dismissal.with("notificationId", nil))
    expectTaken(.notification.with("kind", "alert").with("notificationId", nil))
  }

  @Test func `Sound is true, false or absent`() throws {
    #expect(try Notification(request: Bent.notification.value).sound == nil)
    #expect(try Notification(request: Bent.notification.with("sound", .bool(true)).value).sound == true)
    #expect(try Notification(request: Bent.notification.with("sound", .bool(false)).value).sound == false)
    for value in [0, 1, "false", .null, ["true"]] as [JsonValue] { expectRefused(.notification.with("sound", value)) }
  }

  /// A notification whose compact JSON has exactly `count` bytes: what `filler` repeats, then letters.
  private func sized(_ count: Int, filler: String, encoded: Int) -> Bent {
    let bare = Bent.notification.with("worktreeId", "").with("paneKey", "x").bytes.count
    let room = count - bare
    let times = room / encoded / 2
    return Bent.notification.with("worktreeId", .string(Self.run(filler, times)))
      .with("paneKey", .string("x" + Self.run("p", room - times * encoded)))
  }

  @Test(arguments: [("a", 1), ("é", 2), ("中", 3), ("😀", 4), ("\"", 2), ("\\", 2), ("\n", 2), ("\u{1}", 6), ("/", 1)])
  func `A notification has at most 3000 bytes of compact JSON`(filler: String, encoded: Int) throws {
    let fits = sized(3000, filler: filler, encoded: encoded)
    #expect(fits.bytes.count == 3000)
    expectTaken(fits)
    let over = sized(3001, filler: filler, encoded: encoded)
    #expect(over.bytes.count == 3001)
    expectRefused(over)
  }

  @Test func `White space and escapes that the host chose do not count`() throws {
    let text = String(decoding: sized(3000, filler: "a", encoded: 1).send.bytes, as: UTF8.self)
      .replacing(",", with: ", \n ").replacing("aaaaaaaa", with: #"\u0061aaaaaaa"#)
    #expect(text.utf8.count > 3300)
    try Door.send.read(text)
  }

  @Test func `The notification that was sent is the one that is read`() throws {
    let sent = Bent([
      "kind": "dismiss", "notificationId": "n \"1\"", "notificationSeq": 9_007_199_254_740_991,
      "notificationEpoch": "e\u{301}", "source": "terminal-bell", "agentState": "needs-input", "title": "T\u{0}😀",
      "body": "", "worktreeId": "w\n", "paneKey": "p", "executionHost": "runtime:h", "expiresAt": 4_000_000_000_000,
      "sound": .bool(false),
    ])
    let read = try SendRequest(sent.send.value).notification
    #expect(read.statedKind == .dismiss)
    #expect(read.notificationId == "n \"1\"")
    #expect(read.seq == 9_007_199_254_740_991)
    #expect(read.epoch.utf8.elementsEqual("e\u{301}".utf8))
    #expect(read.source == .terminalBell)
    #expect(read.agentState == .needsInput)
    #expect(read.title == "T\u{0}😀")
    #expect(read.body == "")
    #expect(read.worktreeId == "w\n")
    #expect(read.paneKey == "p")
    #expect(read.executionHost == "runtime:h")
    #expect(read.expiresAt == 4_000_000_000_000)
    #expect(read.sound == false)
  }
}
