import Testing

@testable import PushHost

@Suite struct EventRulesTests {
  @Test(arguments: [
    ("plain", "plain"), ("  a \t\n b\r\n\u{a0}c  ", "a b c"), ("", ""), (" \n\t ", ""),
    ("ä  ö", "ä ö"),
    ("\u{2003}x\u{3000}", "x"),
  ])
  func `White space is made single and trimmed`(text: String, tidy: String) {
    #expect(Text.tidied(text) == tidy)
  }

  @Test(arguments: [
    ("abcde", 5, "abcde"), ("abcdef", 5, "abcd…"), ("abc def", 5, "abc…"), ("👩‍👩‍👧👩‍👩‍👧", 8, "…"),
    ("👩‍👩‍👧👩‍👩‍👧", 16, "👩‍👩‍👧👩‍👩‍👧"), ("👩‍👩‍👧👩‍👩‍👧", 9, "👩‍👩‍👧…"), ("👩‍👩‍👧x", 8, "…"),
    ("e\u{301}e\u{301}e\u{301}", 5, "e\u{301}e\u{301}…"),
    ("🇩🇪🇫🇷", 7, "🇩🇪…"), ("שלום עולם", 6, "שלום…"), ("ab", 1, "…"),
  ])
  func `Text is clipped after a whole character, and ends with an ellipsis`(
    text: String, limit: Int, clipped: String
  ) {
    let outcome = Text.clipped(text, to: limit)
    #expect(outcome.utf8.elementsEqual(clipped.utf8), "\(outcome)")
    #expect(outcome.utf16.count <= limit)
  }

  @Test func `Of a long text its beginning is looked at`() {
    #expect(Text.bounded("a\u{301}") == "a\u{301}")
    #expect(Text.bounded(String(repeating: "ä", count: 4_096)) == String(repeating: "ä", count: 4_096))
    #expect(Text.bounded(String(repeating: "語", count: 10_000)) == String(repeating: "語", count: 4_096))
  }

  private func alert(_ change: (inout HostEvent) -> Void = { _ in }) -> Result<
    PushNotification, EventRules.Drop
  > {
    var event = HostEvent(source: "plugin", seq: 1, epoch: "e-1", title: "Title", body: "Body")
    change(&event)
    return Result { () throws(EventRules.Drop) in
      try EventRules.notification(for: event, now: 1_000)
    }
  }

  @Test func `Events without a number, of unknown sources, or not allowed are dropped`() {
    #expect(alert { $0.seq = nil }.failure == .noNumber)
    #expect(alert { $0.seq = -1 }.failure == .noNumber)
    #expect(alert { $0.seq = 1 << 53 }.failure == .noNumber)
    #expect(alert { $0.epoch = nil }.failure == .noNumber)
    #expect(alert { $0.epoch = "" }.failure == .noNumber)
    #expect(alert { $0.epoch = "a\u{0}" }.failure == .noNumber)
    #expect(alert { $0.source = "mail" }.failure == .unknownSource)
    #expect(alert { $0.isAllowed = false }.failure == .notAllowed)
    #expect(alert().failure == nil)
  }

  @Test(
    arguments: [
      (nil, nil), ("blocked", .needsInput), ("waiting", .needsInput), ("needs-input", .needsInput),
      ("done", .finished),
      ("finished", .finished), ("gone home", .finished),
    ] as [(String?, PushNotification.AgentState?)])
  func `The desktop's words for a state become the contract's`(
    word: String?, state: PushNotification.AgentState?
  ) throws {
    #expect(try alert { $0.agentState = word }.get().agentState == state)
  }

  @Test(arguments: ["working", "running", "busy"])
  func `An agent that is still at work is no news`(word: String) {
    #expect(alert { $0.agentState = word }.failure == .notFinal)
  }

  @Test func `Texts are made to fit, and a title is never empty`() throws {
    let long = try alert {
      $0.title = String(repeating: "t", count: 100)
      $0.body = String(repeating: "b", count: 200)
    }.get()
    #expect(long.title == String(repeating: "t", count: 79) + "…")
    #expect(long.body == String(repeating: "b", count: 179) + "…")
    #expect(try alert { $0.title = " \n" }.get().title == "New notification")
    let blank = try alert {
      $0.title = ""
      $0.agentState = "waiting"
    }.get()
    #expect(blank.title == "Your input is needed")
  }

  @Test func `The deadline is five minutes from when the event was handed over`() throws {
    #expect(try alert().get().expiresAt == 301_000)
  }

  @Test func `Routing that the contract would refuse is left out rather than the alert`() throws {
    let odd = try alert {
      $0.notificationId = "ü"
      $0.worktreeId = String(repeating: "w", count: 2_049)
      $0.paneKey = ""
    }.get()
    #expect(odd.id == nil && odd.worktreeId == nil && odd.paneKey == nil)
  }

  @Test func `What there is no room for is left out, the least of use first`() throws {
    let long = String(repeating: "x", count: 1_500)
    func event(pane: String?, worktree: String?, host: String?, body: String = "Body") throws -> PushNotification {
      try alert {
        $0.notificationId = "n"
        $0.body = body
        $0.paneKey = pane
        $0.worktreeId = worktree
        $0.executionHost = host
      }.get()
    }
    let all = try event(pane: "p", worktree: "w", host: "runtime:h")
    #expect(all.paneKey == "p" && all.worktreeId == "w" && all.executionHost == "runtime:h")
    let odd = try event(pane: "p", worktree: "w", host: "elsewhere|x")
    #expect(odd.paneKey == "p" && odd.worktreeId == "w" && odd.executionHost == nil)
    let two = try event(pane: long, worktree: long, host: "runtime:\(long)")
    #expect(two.paneKey == nil && two.worktreeId == long && two.executionHost == nil)
    let one = try event(pane: nil, worktree: String(repeating: "\u{1}", count: 600), host: nil)
    #expect(one.worktreeId == nil && one.body == "Body")
    for sent in [all, odd, two, one] { #expect(throws: Never.self) { try sent.request(to: ["r"]) } }
  }

  @Test func `Beside a long id the body is shortened, and an id without room is left out of alert and dismissal alike`()
    throws
  {
    func event(id: String, isDismissal: Bool) -> Result<PushNotification, EventRules.Drop> {
      alert {
        $0.notificationId = id
        $0.isDismissal = isDismissal
        $0.epoch = String(repeating: "e", count: 128)
        $0.title = String(repeating: "語", count: 80)
        $0.body = String(repeating: "語", count: 180)
        $0.agentState = "waiting"
      }
    }
    let long = String(repeating: "i", count: 2_040)
    let sent = try event(id: long, isDismissal: false).get()
    #expect(sent.id == long && sent.title == String(repeating: "語", count: 80))
    #expect(sent.body.hasSuffix("語…") && sent.body.count > 20 && sent.body.count < 180)
    #expect(try event(id: long, isDismissal: true).get().id == long)
    let tooLong = String(repeating: "\"", count: 2_040)
    #expect(try event(id: tooLong, isDismissal: false).get().id == nil)
    #expect(event(id: tooLong, isDismissal: true).failure == .noId)
    // Just about at the edge, both say the same.
    for quotes in 120...200 {
      let id = String(repeating: "i", count: 2_048 - quotes) + String(repeating: "\"", count: quotes)
      let isThere = try event(id: id, isDismissal: false).get().id != nil
      #expect((event(id: id, isDismissal: true).failure == nil) == isThere, "\(quotes)")
    }
  }

  @Test func `A dismissal carries no text, needs an id, and asks no setting`() throws {
    let dismissal = try alert {
      $0.isDismissal = true
      $0.notificationId = "n"
      $0.isAllowed = false
      $0.agentState = "working"
      $0.worktreeId = "w"
    }.get()
    #expect(dismissal.isDismissal && dismissal.id == "n")
    #expect(
      dismissal.title == "New notification" && dismissal.body.isEmpty && dismissal.worktreeId == nil
    )
    #expect(alert { $0.isDismissal = true }.failure == .noId)
  }

  @Test(
    arguments: [
      (nil, nil, false), (0, nil, true), (179_999, false, true), (180_000, false, false),
      (0, true, false),
      (nil, false, false), (nil, true, false), (179_999, nil, true),
    ] as [(Int64?, Bool?, Bool)])
  func `Somebody is there unless the desktop is locked, idle for three minutes, or cannot tell`(
    idle: Int64?, isLocked: Bool?, isHere: Bool
  ) {
    #expect(DesktopPresence(idle: idle, isLocked: isLocked).isHere == isHere)
  }

  // MARK: Spacing

  @Test func `A phone has at most one alert of a workspace in 5 s of the events' own time`() {
    var spacing = AlertSpacing()
    #expect(spacing.admit(deviceId: "d", worktreeId: "w", emittedAt: 10_000) == true)
    #expect(spacing.admit(deviceId: "d", worktreeId: "w", emittedAt: 14_999) == false)
    #expect(spacing.admit(deviceId: "d", worktreeId: "w", emittedAt: 9_000) == false)
    #expect(spacing.admit(deviceId: "d", worktreeId: "v", emittedAt: 10_000) == true)
    #expect(spacing.admit(deviceId: "d", worktreeId: nil, emittedAt: 10_000) == true)
    #expect(spacing.admit(deviceId: "c", worktreeId: "w", emittedAt: 10_000) == true)
    // A clock that was set back does not keep the phone silent until it is that late again.
    #expect(spacing.admit(deviceId: "b", worktreeId: "w", emittedAt: 3_600_000) == true)
    #expect(spacing.admit(deviceId: "b", worktreeId: "w", emittedAt: 1_000) == true)
    #expect(spacing.admit(deviceId: "b", worktreeId: "w", emittedAt: 5_999) == false)
    // What was held back does not hold back in its turn.
    #expect(spacing.admit(deviceId: "d", worktreeId: "w", emittedAt: 15_000) == true)
  }

  @Test func `Fifty phones and workspaces are remembered, and the oldest forgotten`() {
    var spacing = AlertSpacing()
    for number in 0..<50 {
      #expect(spacing.admit(deviceId: "d", worktreeId: "\(number)", emittedAt: Int64(number)) == true)
    }
    // The fiftieth has pushed none out.
    #expect(spacing.admit(deviceId: "d", worktreeId: "0", emittedAt: 4_999) == false)
    #expect(spacing.admit(deviceId: "d", worktreeId: "0", emittedAt: 5_000) == true)
    #expect(spacing.admit(deviceId: "d", worktreeId: "50", emittedAt: 5_000) == true)
    // 1 was the oldest by then; 0 had an alert since.
    #expect(spacing.admit(deviceId: "d", worktreeId: "1", emittedAt: 5_000) == true)
    #expect(spacing.admit(deviceId: "d", worktreeId: "0", emittedAt: 5_001) == false)
    #expect(spacing.admit(deviceId: "d", worktreeId: "49", emittedAt: 5_001) == false)
  }

  // MARK: Failures

  @Test func `Failures are counted by kind and told at most once a minute`() {
    var tally = FailureTally()
    #expect(tally.line(uptime: 0) == nil)
    #expect(tally.count("dead", uptime: 1_000) == 0)
    #expect(tally.line(uptime: 1_000) == "pushes that did not go out: 1 dead")
    #expect(tally.count("unreachable", uptime: 2_000) == 59_000)
    #expect(tally.count("dead", uptime: 60_999) == 1)
    #expect(tally.count("unreachable", uptime: 61_000) == 0)
    #expect(tally.line(uptime: 61_000) == "pushes that did not go out: 1 dead, 2 unreachable")
    #expect(tally.line(uptime: 200_000) == nil)
  }
}
