/// How long pushes that never reached the provider wait, by how many there were in a row. Pure.
///
/// No attempt is counted for them, so the backoff of attempts does not hold them back; without a wait of their own an outage
/// would turn the queue over as fast as connections are refused.
struct Outage {
  /// ms.
  static let shortest: Int64 = 100
  static let longest: Int64 = 2_000

  private var untouched = 0

  /// One more that never got there: how long it waits, in ms.
  mutating func wait() -> Int64 {
    untouched += 1
    // Doubles with each 8, since a lane has many under way when a connection fails.
    return min(Self.longest, Self.shortest << Int64(min(5, untouched / 8)))
  }

  /// The provider answered.
  mutating func end() { untouched = 0 }
}
