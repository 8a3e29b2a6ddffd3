internal import Keys
internal import Loop

/// The provider token of one key, and when it is replaced. Pure: clocks and signature are given.
///
/// Apple takes a token for an hour from its issue time, and dislikes new ones more often than every 20 minutes, counted
/// for the key and from the first use on a connection. So:
///
/// - A token is made when it is needed, for a time that all workers agree on: the last full step of 25 minutes. Workers
///   that start at different moments, or over and over, so show the same issue time, two at most at any moment.
/// - It is replaced when 50 minutes have passed since its issue time, which is a step again. It has then been in use for
///   25 minutes at the least, and 10 minutes are left for clocks that differ.
/// - A token that Apple has not seen yet is replaced freely once it is out of step.
/// - When Apple calls a token expired, one is made for this very moment, once in 20 minutes: if that does not help, the
///   clock is wrong, and more tokens would only anger Apple.
struct ProviderTokens {
  /// Seconds between possible issue times.
  static let step: Int64 = 1_500
  /// Seconds from its issue time after which a token is not used any more.
  static let life: Double = 3_000
  /// The least time between two tokens that were made because Apple called one expired, in seconds.
  static let pause: Double = 1_200

  private struct Token {
    let text: String
    let issuedAt: Int64
    /// How old it was when it was made, in seconds: from then on the monotonic clock counts, which nobody sets.
    let head: Double
    let made: Monotonic
    var isUsed = false

    func age(_ now: Monotonic) -> Double { head + now.seconds(since: made) }
  }

  private let sign: @Sendable (_ issuedAt: Int64) throws(KeyFault) -> String
  private var token: Token?
  private var lastForced: Monotonic?

  init(_ sign: @escaping @Sendable (_ issuedAt: Int64) throws(KeyFault) -> String) { self.sign = sign }

  /// The token to send with.
  ///
  /// - Parameter wall: this machine's clock, Unix ms.
  mutating func current(wall: Int64, now: Monotonic) throws(KeyFault) -> String {
    if let token, token.age(now) < (token.isUsed ? Self.life : Double(Self.step)) { return token.text }
    return try make(issuedAt: wall / 1_000 / Self.step * Self.step, wall, now)
  }

  /// Apple has answered a request that carried the token.
  mutating func noteUse(of text: String) {
    if token?.text == text { token?.isUsed = true }
  }

  /// Apple called the token expired. True when there is another one to send with now.
  mutating func expired(_ text: String, wall: Int64, now: Monotonic) throws(KeyFault) -> Bool {
    // Many requests carried it; the first of their answers made a new one.
    guard let token, token.text == text else { return true }
    if let lastForced, now.seconds(since: lastForced) < Self.pause { return false }
    guard wall / 1_000 != token.issuedAt else { return false }
    _ = try make(issuedAt: wall / 1_000, wall, now)
    lastForced = now
    return true
  }

  /// Seconds since the token was made; nil while there is none.
  func age(_ now: Monotonic) -> Double? { token.map { now.seconds(since: $0.made) } }

  private mutating func make(issuedAt: Int64, _ wall: Int64, _ now: Monotonic) throws(KeyFault) -> String {
    let text = try sign(issuedAt)
    token = Token(text: text, issuedAt: issuedAt, head: Double(wall) / 1_000 - Double(issuedAt), made: now)
    return text
  }
}
