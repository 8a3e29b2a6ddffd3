internal import Loop
internal import Operations
internal import Stores

/// One round of housekeeping (rulings 7): each step in chunks, so that no lock is held longer than one of them.
@LoopActor
struct Sweep {
  /// Rows a statement.
  static let chunk = 2_000
  /// Chunks of one step in one round, so that a round ends; the next goes on.
  static let chunksPerStep = 500

  private let store: any Store
  private let log: Log
  private let metrics: JanitorMetrics?

  init(_ store: any Store, _ log: Log, metrics: JanitorMetrics? = nil) {
    self.store = store
    self.log = log
    self.metrics = metrics
  }

  /// The tables that a sweep reports.
  static let tables = [
    "push_challenges", "push_sessions", "push_delivery_batches", "push_events.payload", "push_events",
    "push_event_recipients", "push_dismissed_events", "push_forgotten_devices",
  ]

  /// Logs one line a table with the count of its rows.
  func run(isStopping: @LoopActor () -> Bool = { false }) async throws(ProgramFailure) {
    for step in SweepStep.allCases where !isStopping() {
      var rows: [String: Int] = [:]
      do throws(StoreFailure) {
        for _ in 0..<Self.chunksPerStep where !isStopping() {
          let swept = try await store.sweep(step, limit: Self.chunk)
          for (table, count) in swept.rows {
            rows[table, default: 0] += count
            metrics?.deleted.increment(table, by: count)
          }
          if !swept.isFull { break }
        }
      } catch {
        throw ProgramFailure(.unavailable, "the sweep of \(step.rawValue) stopped: \(error.reason)")
      }
      for (table, count) in rows.sorted(by: { $0.key < $1.key }) {
        log.info("swept", ["table": .text(table), "rows": .integer(Int64(count))])
      }
    }
  }
}
