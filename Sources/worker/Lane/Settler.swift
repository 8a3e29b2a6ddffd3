internal import Loop
internal import Operations
internal import Stores

/// Records outcomes in the store, many at a time: what gathers while one call is under way goes with the next, so the lonely
/// outcome is recorded at once and a flood in few commits.
@LoopActor
final class Settler: Flushable {
  /// Settlements a call.
  static let most = 500

  /// For how long an outcome is tried, in ms: far beyond its lease. While the database was away nobody else claimed the batch
  /// either, and what the provider has answered need not go out again; where somebody has, the fence refuses the outcome.
  nonisolated static let patience = 120_000

  /// Told for each settlement once it is recorded; nil when it was given up.
  typealias Told = @LoopActor (Settled?) -> Void

  private let store: any Store
  private let faults: LogTally
  private let now: @Sendable () -> Monotonic
  private struct Entry {
    let settlement: Settlement
    let owner: Int64
    let until: Monotonic
    let told: Told
  }
  private var waiting: [Entry] = []
  private var isRunning = false
  private var isFlushAsked = false
  /// What could not be recorded is tried again. A claim must not come before it, or take what it is about.
  private(set) var isStuck = false

  init(store: any Store, faults: LogTally, now: @escaping @Sendable () -> Monotonic = { .now }) {
    self.store = store
    self.faults = faults
    self.now = now
  }

  /// Records `settlement` soon. What waits is bounded by what the lanes hold.
  /// - Parameter owner: the name that the delivery was claimed under.
  func record(_ settlement: Settlement, owner: Int64, _ told: @escaping Told) {
    waiting.append(
      Entry(settlement: settlement, owner: owner, until: now().advanced(milliseconds: Self.patience), told: told))
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
    defer { isStuck = false }
    var pause = 100
    while true {
      let began = Monotonic.now
      do {
        let answers = try await store.settle(batch.map(\.settlement), owner: owner)
        isStuck = false
        for (entry, answer) in zip(batch, answers) { entry.told(answer) }
        return
      } catch {
        // Said again: outcomes that a lost reply hides are found settled, and change nothing twice.
        faults.count("settle")
        if case .refused = error {
          await recordApart(batch)
          return
        }
        isStuck = true
        guard let last = batch.map(\.until).max(), last > now() else {
          for entry in batch { entry.told(nil) }
          return
        }
        // One that waited for the file's lock for long has its place in the line to lose.
        try? await EventLoop.shared.sleep(milliseconds: max(0, pause - Monotonic.now.milliseconds(since: began)))
        pause = min(2_000, pause * 2)
      }
    }
  }

  /// A settlement that the database refuses must keep neither its neighbours from being recorded nor the lanes from claiming.
  private func recordApart(_ batch: [Entry]) async {
    for entry in batch {
      let answer = try? await store.settle([entry.settlement], owner: entry.owner).first
      entry.told(answer)
    }
  }
}
