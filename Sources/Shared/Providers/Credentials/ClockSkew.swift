/// How far this machine's clock is from a provider's, by the `date` of an answer: tokens that are signed for a wrong time
/// are refused, and nothing else says why.
struct ClockSkew: CustomStringConvertible {
  /// Seconds from which on tokens may suffer.
  static let large: Int64 = 60

  /// Positive when theirs is ahead.
  let seconds: Int64

  /// Unix ms; nil without theirs.
  init?(theirs: Int64?, ours: Int64) {
    guard let theirs else { return nil }
    seconds = (theirs - ours) / 1_000
  }

  var isLarge: Bool { seconds.magnitude >= UInt64(Self.large) }

  var description: String { "clock skew: the provider's clock differs from this machine's by \(seconds) s" }
}
