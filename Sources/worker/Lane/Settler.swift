internal import Loop
internal import Operations
internal import Stores

/// Records outcomes in the store, many at a time: what gathers while one call is under way goes with the next, so the lonely
/// outcome is recorded at once and a flood in few commits.
@LoopActor
final class Settler: Flushable {
  /// Settlements a call.
  static let most = 500

  /// Told for each settlement once it is recorded; nil when it was given up because the lease ran out meanwhile.
  typealias Told = @LoopActor (Settled?) -> Void

  private let store: any Store
  private let faults: LogTally
  private struct Entry {
    let settlement: Settlement
    let owner: Int64
    let until: Monotonic
    let told: Told
  }
  private var waiting: [Entry] = []
  private var isRunning = false
  private var isFlushAsked = false

  init(store: any Store, faults: LogTally) {
    self.store = store
    self.faults = faults
  }

  /// Records `settlement` soon. What waits is bounded by the leases that the lanes hold.
  /// - Parameter owner: the name that the delivery was claimed under.
  func record(_ settlement: Settlement, owner: Int64, _ told: @escaping Told) {
    // Nobody else has the batch before its lease has run out, however long the database is away.
    waiting.append(
      Entry(
        settlement: settlement, owner: owner, until: Monotonic.now.advanced(milliseconds: Int(Leases.length)),
        told: told))
    if !isFlushAsked, !isRunning {
      isFlushAsked = true
      EventLoop.shared.flushAtTurnsEnd(self)
    }
  }

  func flush() {
    isFlushAsked = false
    if isRunning || waiting.isEmpty { return }
    isRunning = true
    EventLoop.shared.start { [self] in
      while !waiting.isEmpty { await recordSome() }
      isRunning = false
    }
  }

  private func recordSome() async {
    guard let owner = waiting.first?.owner else { return }
    let batch = Array(waiting.prefix(Self.most).prefix { $0.owner == owner })
    waiting.removeFirst(batch.count)
    var pause = 100
    while true {
      do {
        let answers = try await store.settle(batch.map(\.settlement), owner: owner)
        for (entry, answer) in zip(batch, answers) { entry.told(answer) }
        return
      } catch {
        // Said again: outcomes that a lost reply hides are found settled, and change nothing twice.
        faults.count("settle")
        if case .refused = error, batch.count > 1 {
          await recordApart(batch)
          return
        }
        guard let last = batch.map(\.until).max(), last > .now else {
          for entry in batch { entry.told(nil) }
          return
        }
        try? await EventLoop.shared.sleep(milliseconds: pause)
        pause = min(2_000, pause * 2)
      }
    }
  }

  /// A settlement that the database refuses must not keep its neighbours from being recorded.
  private func recordApart(_ batch: [Entry]) async {
    for entry in batch {
      let answer = try? await store.settle([entry.settlement], owner: entry.owner).first
      entry.told(answer)
    }
  }
}
