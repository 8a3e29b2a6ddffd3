internal import Loop
internal import Stores

/// A delivery that this worker holds, and when it was claimed by this machine's monotonic clock.
struct Held {
  var delivery: ClaimedDelivery
  /// The name that it was claimed under.
  let owner: Int64
  /// Measured before the claim was sent, so what is left of its life is never overrated.
  let claimed: Monotonic

  /// What is left of its life, in ms.
  func remaining(_ now: Monotonic) -> Int64 {
    delivery.expiresAt - delivery.claimedAt - Int64(now.milliseconds(since: claimed))
  }

  /// How long ago it was admitted, in seconds.
  func age(_ now: Monotonic) -> Double {
    max(0, Double(delivery.claimedAt - delivery.admittedAt) / 1000 + now.seconds(since: claimed))
  }
}
