internal import Foundation

/// The two clocks that a host goes by, and how it waits: one seam, so that no test has to wait.
struct HostClock: Sendable {
  /// The time of day, ms since 1970: for what the gateway and the host's own files say.
  var wall: @Sendable () -> Int64
  /// A clock that nobody sets, ms from some beginning: for how long ago something was.
  var uptime: @Sendable () -> Int64
  /// Waits that many ms; throws when the task is cancelled.
  var sleep: @Sendable (Int64) async throws -> Void

  init(
    wall: @escaping @Sendable () -> Int64, uptime: @escaping @Sendable () -> Int64,
    sleep: @escaping @Sendable (Int64) async throws -> Void
  ) {
    self.wall = wall
    self.uptime = uptime
    self.sleep = sleep
  }

  private static let began = ContinuousClock.now

  /// The machine's clocks.
  static let system = HostClock(
    wall: { Int64(Date().timeIntervalSince1970 * 1000) },
    uptime: { Int64(began.duration(to: .now) / .milliseconds(1)) },
    sleep: { try await Task.sleep(for: .milliseconds($0)) })
}
