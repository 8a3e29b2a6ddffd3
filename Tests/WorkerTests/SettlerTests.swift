import Contract
import FoundationEssentials
import Keys
import Loop
import Operations
import SQLite
import Stores
import Testing

@testable import worker

@Suite("Outcomes while the database is away", .timeLimit(.minutes(5))) @LoopActor
struct SettlerTests {
  @Test(
    "An outcome whose lease has run out is recorded all the same, unless it has waited for two minutes",
    arguments: [(60_000, true), (Settler.patience + 1, false)])
  func lapsed(milliseconds: Int, isRecorded: Bool) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "settler-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let store = try await SQLiteStore(directory: directory)
    try await Queue.admitOne(store)
    let claim = try await store.claim(
      .apnsSandbox, owner: 7, limit: ClaimLimit(batches: 1), lease: 1, from: LowWater.bottom)
    let delivery = try #require(claim.deliveries.first)

    let other = try SQLiteFile(path: directory + "/" + SQLiteStore.fileName)
    try other.script("begin immediate")
    let began = Monotonic.now
    let clock = Locked(began)
    let log = Log(program: "test", minimum: nil)
    let settler = Settler(store: store, faults: LogTally(log, "x"), now: { clock.withLock { $0 } })
    var answer: Settled??
    settler.record(
      Settlement(
        batch: delivery.batch, device: delivery.device, verdict: .ended(.sent, detail: nil), attempt: .answered),
      owner: 7
    ) { answer = .some($0) }
    clock.withLock { $0 = began.advanced(milliseconds: milliseconds) }
    // It waits at the lock for five seconds at most.
    while !settler.isStuck && answer == nil { try await EventLoop.shared.sleep(milliseconds: 5) }
    if isRecorded { try other.script("rollback") }
    while answer == nil { try await EventLoop.shared.sleep(milliseconds: 5) }
    if !isRecorded { try other.script("rollback") }
    #expect((answer == .some(.ended)) == isRecorded)
    #expect((answer == .some(nil)) != isRecorded)
    #expect(!settler.isStuck)
    #expect(try await store.depth().deliveries == (isRecorded ? 0 : 1))
  }

  @Test("An outcome that the database refuses is given up at once")
  func refused() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "settler-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let store = try await SQLiteStore(directory: directory)
    try await Queue.admitOne(store)
    let claim = try await store.claim(
      .apnsSandbox, owner: 7, limit: ClaimLimit(batches: 1), lease: Leases.length, from: LowWater.bottom)
    let delivery = try #require(claim.deliveries.first)
    try SQLiteFile(path: directory + "/" + SQLiteStore.fileName).script(
      "create trigger no before update on push_event_recipients begin select raise(abort, 'x'); end")
    // Its time never runs out.
    let began = Monotonic.now
    let settler = Settler(store: store, faults: LogTally(Log(program: "test", minimum: nil), "x"), now: { began })
    let answer = await withCheckedContinuation { told in
      settler.record(
        Settlement(
          batch: delivery.batch, device: delivery.device, verdict: .ended(.sent, detail: nil), attempt: .answered),
        owner: 7
      ) { told.resume(returning: $0) }
    }
    #expect(answer == nil)
    #expect(!settler.isStuck)
  }
}
