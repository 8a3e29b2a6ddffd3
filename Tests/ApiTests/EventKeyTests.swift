import Contract
import Json
import Stores
import Testing

@testable import api

/// Rulings 4.1 and 5.1: what counts as one event, and which alerts a dismissal fences.
@Suite struct EventKeyTests {
  private func notification(_ change: (inout Notification) -> Void = { _ in }) throws -> Notification {
    var notification = try SendRequest(Body.send(["r"], Body.notification(7))).notification
    change(&notification)
    return notification
  }

  @Test func `The keys are those that other builds have stored`() throws {
    let notification = try notification()
    #expect(Hex.encode(EventKeys.event(notification)) == "de894f8a2eabcaf2da1c3699d7740a3e")
    #expect(EventKeys.fence(notification).map(Hex.encode) == "0f19a5b7f52a0a5bbb0e29b8e133615d")
    #expect(Hex.encode(EventKeys.content(notification)) == "a291e2c2df954a413f7ed59a615c712c")
  }

  @Test func `Kind, epoch and seq make an event, and nothing else`() throws {
    let base = EventKeys.event(try notification())
    #expect(base.count == 16)
    #expect(EventKeys.event(try notification { $0.statedKind = .alert }) == base)
    #expect(EventKeys.event(try notification { $0.title = "x" }) == base)
    #expect(EventKeys.event(try notification { $0.notificationId = nil }) == base)
    let others = [
      try notification { $0.statedKind = .dismiss }, try notification { $0.seq = 8 },
      try notification { $0.epoch = "e-2" },
      try notification { $0.seq = 7 << 8 },
    ]
    #expect(Set(others.map(EventKeys.event) + [base]).count == 5)
  }

  @Test func `A fence is of epoch and id, wherever one ends and the other begins`() throws {
    let base = try #require(EventKeys.fence(try notification()))
    #expect(base.count == 16)
    #expect(EventKeys.fence(try notification { $0.statedKind = .dismiss }) == base)
    #expect(EventKeys.fence(try notification { $0.seq = 1 }) == base)
    #expect(EventKeys.fence(try notification { $0.notificationId = nil }) == nil)
    let one = try notification {
      $0.epoch = "ab"
      $0.notificationId = "c"
    }
    let two = try notification {
      $0.epoch = "a"
      $0.notificationId = "bc"
    }
    #expect(EventKeys.fence(one) != EventKeys.fence(two))
  }

  @Test func `Content is everything but sound`() throws {
    let base = EventKeys.content(try notification())
    #expect(EventKeys.content(try notification { $0.sound = false }) == base)
    #expect(EventKeys.content(try notification { $0.statedKind = .alert }) == base)
    let others = [
      try notification { $0.title = "x" }, try notification { $0.body = "x" },
      try notification { $0.agentState = .finished },
      try notification { $0.worktreeId = "w" }, try notification { $0.paneKey = "w" },
      try notification { $0.expiresAt = 1 },
      try notification { $0.source = .terminalBell }, try notification { $0.notificationId = nil },
    ]
    #expect(Set(others.map(EventKeys.content) + [base]).count == 9)
  }

  @Test(arguments: [(nil, false), (true, false), (false, true)])
  func `Only sound said to be false is silent`(sound: Bool?, isSilent: Bool) throws {
    let request = try SendRequest(Body.send(["r"], Body.notification(7, sound: sound)))
    let fingerprint = try #require(HostFingerprint("AAAAAAAAAAAAAAAA"))
    let admission = Admission(request, from: Host(number: 1, fingerprint: fingerprint))
    #expect(admission.isSilent == isSilent)
  }
}
