internal import Keys
internal import Loop

/// The provider token of one key, and when it is replaced. Pure: clocks and signature are given.
///
/// Apple takes a token for an hour from its issue time, and dislikes new ones more often than every 20 minutes. So:
///
/// - A token is made when it is needed, for a time that all workers agree on: the last full step of 50 minutes. However many
///   workers there are, and whenever they start, they show the same one and change it together.
/// - A worker that shows it for the first time near the step's end keeps it for 20 minutes, but not beyond 55 minutes from its
///   issue time, which leaves 5 for clocks that differ. (Without a word between workers no scheme gives both a fleet and a
///   lone worker 20 minutes whenever they start; Apple counts by connection, and `ApnsSender` shows no two tokens on one.)
/// - A token that Apple has not seen yet is replaced freely once its step is over.
/// - When Apple calls a token expired, one is made for the full minute, once in 20 minutes, and workers that meet it
///   together so make the same one. If that does not help, the clock is wrong, and more tokens would only anger Apple.
struct ProviderTokens {
  /// Seconds between issue times.
  static let step: Int64 = 3_000
  /// The oldest that a token gets, in seconds.
  static let longest: Double = 3_300
  /// The least time that a token is in use, and between two that were made because Apple called one expired, in seconds.
  static let pause: Double = 1_200

  private struct Token {
    let text: String
    let issuedAt: Int64
    /// How old it was when it was made, in seconds: from then on the monotonic clock counts, which nobody sets.
    let head: Double
    let made: Monotonic
    /// Its age at its first use.
    var firstUse: Double?

    func age(_ now: Monotonic) -> Double { head + now.seconds(since: made) }

    /// The age at which it is replaced.
    var life: Double {
      let stepEnds = Double(ProviderTokens.step - issuedAt % ProviderTokens.step)
      guard let firstUse else { return stepEnds }
      return max(stepEnds, min(firstUse + ProviderTokens.pause, ProviderTokens.longest))
    }
  }

  private let sign: @Sendable (_ issuedAt: Int64) throws(KeyFault) -> String
  private var token: Token?
  private var lastForced: Monotonic?

  init(_ sign: @escaping @Sendable (_ issuedAt: Int64) throws(KeyFault) -> String) { self.sign = sign }

  /// The token to send with.
  ///
  /// - Parameter wall: this machine's clock, Unix ms.
  mutating func current(wall: Int64, now: Monotonic) throws(KeyFault) -> String {
    if let token, token.age(now) < token.life { return token.text }
    return try make(issuedAt: wall / 1_000 / Self.step * Self.step, wall, now)
  }

  /// Apple has answered a request that carried the token.
  mutating func noteUse(of text: String, _ now: Monotonic) {
    if let token, token.text == text, token.firstUse == nil { self.token?.firstUse = token.age(now) }
  }

  /// Apple called the token expired. True when there is another one to send with now.
  mutating func expired(_ text: String, wall: Int64, now: Monotonic) throws(KeyFault) -> Bool {
    // Many requests carried it; the first of their answers made a new one.
    guard let token, token.text == text else { return true }
    if let lastForced, now.seconds(since: lastForced) < Self.pause { return false }
    let second = wall / 1_000
    let minute = second / 60 * 60
    let issuedAt = minute > token.issuedAt ? minute : second
    guard issuedAt != token.issuedAt else { return false }
    _ = try make(issuedAt: issuedAt, wall, now)
    lastForced = now
    return true
  }

  /// Seconds since the token was made; nil while there is none.
  func age(_ now: Monotonic) -> Double? { token.map { now.seconds(since: $0.made) } }

  private mutating func make(issuedAt: Int64, _ wall: Int64, _ now: Monotonic) throws(KeyFault) -> String {
    let text = try sign(issuedAt)
    // A clock that was set back leads to the same token again, which is then no new one.
    let firstUse = token?.issuedAt == issuedAt ? token?.firstUse : nil
    token = Token(
      text: text, issuedAt: issuedAt, head: Double(wall) / 1_000 - Double(issuedAt), made: now, firstUse: firstUse)
    return text
  }
}
