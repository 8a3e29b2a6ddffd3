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
  private let owner: Int64
  private let faults: LogTally
  private var waiting: [(settlement: Settlement, until: Monotonic, told: Told)] = []
  private var isRunning = false
  private var isFlushAsked = false

  init(store: any Store, owner: Int64, faults: LogTally) {
    self.store = store
    self.owner = owner
    self.faults = faults
  }

  /// Records `settlement` soon. What waits is bounded by the leases that the lanes hold.
  func record(_ settlement: Settlement, _ told: @escaping Told) {
    // Nobody else has the batch before its lease has run out, however long the database is away.
    waiting.append((settlement, Monotonic.now.advanced(milliseconds: Int(Leases.length)), told))
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
    let batch = Array(waiting.prefix(Self.most))
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
  private func recordApart(_ batch: [(settlement: Settlement, until: Monotonic, told: Told)]) async {
    for entry in batch {
      let answer = try? await store.settle([entry.settlement], owner: owner).first
      entry.told(answer)
    }
  }
}
