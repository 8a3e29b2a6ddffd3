/// Lets one piece of work at a time go on for a device: within this process in the order of asking, and across the
/// processes that share a state folder.
///
/// Work for different devices goes on side by side, except that of the few that share one of the 64 lock files.
actor DeviceLocks {
  private let state: StateFolder
  private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

  /// How long another process is waited for, ms: a registration that settles an earlier delete takes four requests, and may
  /// wait for the turn to prove before them.
  private static let patience: Int64 = 110_000
  private static let files: UInt64 = 64

  init(state: StateFolder) { self.state = state }

  /// Runs `body` when nobody else works on the device.
  func hold<Value: Sendable>(
    _ deviceId: String, _ body: @Sendable () async throws(StateFault) -> Value
  ) async throws(StateFault) -> Value {
    if waiting[deviceId] == nil {
      waiting[deviceId] = []
    } else {
      // Whoever goes hands the place over to the next, so nobody can slip in between.
      await withCheckedContinuation { waiting[deviceId]?.append($0) }
    }
    defer { handOver(deviceId) }
    let lock = try await state.lock("device-\(Self.number(deviceId)).lock", patience: Self.patience)
    defer { lock.release() }
    return try await body()
  }

  private func handOver(_ deviceId: String) {
    guard let next = waiting[deviceId]?.first else {
      waiting[deviceId] = nil
      return
    }
    waiting[deviceId]?.removeFirst()
    next.resume()
  }

  /// FNV-1a, the same in every process; the files are few so that they need no clearing up.
  private static func number(_ deviceId: String) -> UInt64 {
    deviceId.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } % files
  }
}
