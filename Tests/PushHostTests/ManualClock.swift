import Foundation

@testable import PushHost

/// Both clocks of a host, moved by the test; whoever sleeps wakes when the clock has come so far.
final class ManualClock: Sendable {
  private struct State {
    var now: Int64 = 1_790_000_000_000
    var sleepers: [(id: Int, until: Int64, wake: CheckedContinuation<Void, any Error>)] = []
    var next = 0
    var slept: [Int64] = []
    var watchers: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Guarded(State())

  var now: Int64 { state.withLock { $0.now } }
  /// How long anyone has asked to sleep, in order.
  var slept: [Int64] { state.withLock { $0.slept } }

  var clock: HostClock {
    HostClock(
      wall: { self.now }, uptime: { self.now - 1_789_999_000_000 },
      sleep: { try await self.sleep($0) })
  }

  func advance(_ milliseconds: Int64) {
    let woken = state.withLock { state in
      state.now += milliseconds
      let woken = state.sleepers.filter { $0.until <= state.now }
      state.sleepers.removeAll { $0.until <= state.now }
      return woken
    }
    for sleeper in woken { sleeper.wake.resume() }
  }

  /// Waits until so many sleeps have begun since the start.
  func sleeps(_ count: Int) async {
    await withCheckedContinuation { wake in
      let isThere = state.withLock { state in
        if state.slept.count >= count { return true }
        state.watchers.append((count, wake))
        return false
      }
      if isThere { wake.resume() }
    }
  }

  private func sleep(_ milliseconds: Int64) async throws {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (wake: CheckedContinuation<Void, any Error>) in
        let watchers = state.withLock { state in
          state.slept.append(milliseconds)
          state.sleepers.append((id, state.now + milliseconds, wake))
          let ready = state.watchers.filter { $0.count <= state.slept.count }
          state.watchers.removeAll { $0.count <= state.slept.count }
          return ready
        }
        for watcher in watchers { watcher.wake.resume() }
        if Task.isCancelled { cancel(id) }
      }
    } onCancel: {
      cancel(id)
    }
  }

  private func cancel(_ id: Int) {
    let sleeper = state.withLock { state in
      let place = state.sleepers.firstIndex { $0.id == id }
      return place.map { state.sleepers.remove(at: $0) }
    }
    sleeper?.wake.resume(throwing: CancellationError())
  }
}

/// A value behind a lock. `@unchecked Sendable`: the lock guards it.
final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<T>(_ body: (inout Value) throws -> T) rethrows -> T {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
