internal import Loop

/// The clocks of a sender.
struct PushClock: Sendable {
  var now: @Sendable () -> Monotonic = { .now }
  /// Unix ms.
  var wall: @Sendable () -> Int64 = { WallClock.milliseconds }
}

/// The time that one push may take, resends and new credentials included.
package struct PushBudget: Sendable {
  /// For one request, in ms (rulings 6.7).
  static let request = 10_000
  /// After this many ms nothing is sent again at once: the queue does it.
  static let resend = 5_000

  let began: Monotonic

  /// What a request that begins now may take, in ms. The whole stays below 12 s: 0 where that is over, as after a pause of
  /// the whole process.
  func left(_ now: Monotonic) -> Int {
    let passed = now.milliseconds(since: began)
    return passed > Self.request + 1_000 ? 0 : max(1_000, Self.request - passed)
  }

  func allowsResend(_ now: Monotonic) -> Bool { now.milliseconds(since: began) < Self.resend }
}
