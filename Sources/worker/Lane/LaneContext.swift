internal import Loop
internal import Operations
internal import Stores

/// What every lane of the process shares.
@LoopActor
final class LaneContext {
  let store: any Store
  /// Deliveries that one lane holds at most.
  let capacity: Int
  /// Batches that one claim takes at most.
  let batch: Int
  let settler: Settler
  let releaser: Releaser
  let counts: DeliveryCounts
  let log: Log
  /// Faults of the database, summed up once a minute.
  let faults: LogTally
  /// 0 to 1, for jitter.
  let random: @Sendable () -> Double

  init(
    store: any Store, capacity: Int, batch: Int, counts: DeliveryCounts, log: Log, faults: LogTally,
    random: @escaping @Sendable () -> Double
  ) {
    self.store = store
    self.capacity = capacity
    self.batch = batch
    self.counts = counts
    self.log = log
    self.faults = faults
    self.random = random
    settler = Settler(store: store, faults: faults)
    releaser = Releaser(store: store, faults: faults)
  }
}
