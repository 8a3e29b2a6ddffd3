import Foundation
import Testing

@testable import PushHost

@Suite struct HistoryTests {
  private let scratch = ScratchFolder()
  private let clock = ManualClock()

  private func history(_ state: StateFolder? = nil) throws -> DismissalHistory {
    DismissalHistory(state: try state ?? scratch.open(), clock: clock.clock)
  }

  private func push(_ seq: Int64, _ id: String = "n", epoch: String = "e") -> PushIdentity {
    PushIdentity(notificationId: id, epoch: epoch, seq: seq)
  }

  private var path: String { scratch.path + "/dismissals.log" }

  @Test func `What was dismissed is told; what is unknown, newer or of another epoch is not`()
    async throws
  {
    let history = try history()
    #expect(await history.shown(push(3)) == nil)
    #expect(await history.shown(push(5)) == nil)
    #expect(try await history.getMissedSince(delivered: [push(3)]).get().isEmpty)
    #expect(await history.dismissed(push(4)) == nil)
    let asked = [push(3), push(4), push(5), push(3, "other"), push(3, epoch: "f")]
    #expect(try await history.getMissedSince(delivered: asked).get() == [push(3), push(4)])
    // A fence is never lowered.
    #expect(await history.dismissed(push(1)) == nil)
    #expect(try await history.getMissedSince(delivered: asked).get() == [push(3), push(4)])
    // Another run of the host knows the same.
    #expect(try await self.history().getMissedSince(delivered: asked).get() == [push(3), push(4)])
  }

  @Test func `Only the first 256 are looked at`() async throws {
    let history = try history()
    _ = await history.dismissed(push(1_000))
    let asked = (1...300).map { push($0) }
    #expect(try await history.getMissedSince(delivered: asked).get().count == 256)
  }

  @Test func `A record is forgotten after seven days`() async throws {
    let history = try history()
    _ = await history.dismissed(push(1))
    clock.advance(7 * 86_400_000 - 1)
    #expect(try await history.getMissedSince(delivered: [push(1)]).get() == [push(1)])
    clock.advance(1)
    #expect(try await history.getMissedSince(delivered: [push(1)]).get().isEmpty)
  }

  @Test func `At most 4,096 records are kept, and what changed longest ago goes first`() {
    var records = HistoryRecords()
    for number in 0..<5_000 {
      records.add(HistoryRecords.Entry(kind: .dismissed, identity: push(1, "n\(number)"), at: 0))
      if number > 0 {
        records.add(HistoryRecords.Entry(kind: .shown, identity: push(1, "n0"), at: 0))
      }
    }
    #expect(records.count == 4_096)
    #expect(records.isDismissed(push(1, "n0"), now: 0))
    #expect(!records.isDismissed(push(1, "n1"), now: 0))
    #expect(records.isDismissed(push(1, "n4999"), now: 0))
    var again = HistoryRecords()
    for entry in records.entries { again.add(entry) }
    #expect(again.entries == records.entries)
  }

  @Test func `Two runs of one host add to the same history`() async throws {
    let one = try history()
    let two = try history()
    for number in 0..<20 {
      _ = await (number % 2 == 0 ? one : two).dismissed(push(1, "n\(number)"))
    }
    let asked = (0..<20).map { push(1, "n\($0)") }
    #expect(try await one.getMissedSince(delivered: asked).get() == asked)
    #expect(try await two.getMissedSince(delivered: asked).get() == asked)
  }

  @Test(arguments: [FileStep.opened, .written, .synced])
  func `An entry that was being written when the process was killed is whole or not there`(
    step: FileStep
  ) async throws {
    _ = try await history().dismissed(push(1, "before"))
    let killed = try history(scratch.open(stoppingAt: step, of: "dismissals.log"))
    #expect(await killed.dismissed(push(1, "killed")) != nil)
    let next = try history()
    _ = await next.dismissed(push(1, "after"))
    let told = try await next.getMissedSince(delivered: [
      push(1, "before"), push(1, "killed"), push(1, "after"),
    ]).get()
    #expect(
      told.map(\.notificationId)
        == (step == .opened ? ["before", "after"] : ["before", "killed", "after"]))
  }

  @Test func `Half a line swallows neither the one before nor the one after`() async throws {
    _ = try await history().dismissed(push(1, "before"))
    let whole = try Data(contentsOf: URL(filePath: path))
    try scratch.write("dismissals.log", String(decoding: whole + whole.dropLast(10), as: UTF8.self))
    let next = try history()
    _ = await next.dismissed(push(1, "after"))
    let asked = [push(1, "before"), push(1, "after")]
    #expect(try await next.getMissedSince(delivered: asked).get() == asked)
    #expect(try await history().getMissedSince(delivered: asked).get() == asked)
  }

  @Test
  func `The file is written anew before it grows without end, and whoever had it open notices`()
    throws
  {
    let state = try scratch.open()
    let other = Journal(state.file("dismissals.log"))
    let entry = HistoryRecords.Entry(kind: .shown, identity: push(1), at: clock.now)
    let lines = Array(repeating: entry.line, count: 3 * HistoryRecords.most).flatMap { $0 }
    try scratch.write("dismissals.log", String(decoding: lines, as: UTF8.self))
    #expect(try other.current(now: clock.now).count == 1)
    let journal = Journal(state.file("dismissals.log"))
    try journal.add(HistoryRecords.Entry(kind: .dismissed, identity: push(2), at: clock.now))
    #expect(try Data(contentsOf: URL(filePath: path)).count { $0 == 10 } == 2)
    #expect(try other.current(now: clock.now).isDismissed(push(1), now: clock.now))
    try other.add(HistoryRecords.Entry(kind: .dismissed, identity: push(9), at: clock.now))
    #expect(try journal.current(now: clock.now).isDismissed(push(9), now: clock.now))
  }

  @Test func `What no gateway would take has no record`() async throws {
    let history = try history()
    for odd in [
      push(1, ""), push(1, String(repeating: "n", count: 2_049)), push(1, "ü"), push(-1), push(1, epoch: ""),
    ] {
      #expect(await history.shown(odd) == nil)
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `No text is kept`() async throws {
    _ = try await history().shown(push(1))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text == #"{"k":"shown","n":"n","e":"e","s":1,"t":\#(clock.now)}"# + "\n")
  }
}
