internal import Loop
internal import Stores

/// A delivery that this worker holds, and when it was claimed by this machine's monotonic clock. An object, as it is kept in
/// several places and by each task that waits for an answer.
final class Held: Sendable {
  let delivery: ClaimedDelivery
  /// The name that it was claimed under.
  let owner: Int64
  /// Measured before the claim was sent, so what is left of its life is never overrated.
  let claimed: Monotonic

  init(delivery: ClaimedDelivery, owner: Int64, claimed: Monotonic) {
    self.delivery = delivery
    self.owner = owner
    self.claimed = claimed
  }

  /// The same delivery as a second look found its registration.
  func with(token: String, registeredAt: Int64, isProven: Bool) -> Held {
    var delivery = delivery
    delivery.token = token
    delivery.registeredAt = registeredAt
    delivery.isProven = isProven
    return Held(delivery: delivery, owner: owner, claimed: claimed)
  }

  /// What is left of its life, in ms.
  func remaining(_ now: Monotonic) -> Int64 {
    delivery.expiresAt - delivery.claimedAt - Int64(now.milliseconds(since: claimed))
  }

  /// How long ago it was admitted, in seconds.
  func age(_ now: Monotonic) -> Double {
    max(0, Double(delivery.claimedAt - delivery.admittedAt) / 1000 + now.seconds(since: claimed))
  }

  /// Given back while it is on its way: due again at once and in its place, with one more attempt behind it of which nobody
  /// knows what came.
  func abandoned(_ now: Monotonic) -> Settlement {
    var count = RetryCount(stored: delivery.attempts)
    count.countAttempt()
    // A row's place is a time by the store's clock. Where the host has run ahead of it, now is early enough.
    let behind = (delivery.batch.turn >> 20) - delivery.claimedAt - Int64(now.milliseconds(since: claimed))
    return Settlement(
      batch: delivery.batch, device: delivery.device,
      verdict: .again(after: min(0, behind), attempts: count.value, reason: "connection_lost: the worker stopped"),
      attempt: .unknown)
  }
}
