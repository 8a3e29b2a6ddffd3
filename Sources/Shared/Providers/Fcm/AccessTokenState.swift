internal import Loop

/// Which access token serves, and when another is fetched. Pure: what happened goes in, what is to be done comes out.
struct AccessTokenState {
  /// A token is replaced this long before its end, in seconds, or after three quarters of a life shorter than 15 minutes.
  static let margin = 225.0
  /// Pauses after failed fetches, in ms.
  static let firstPause = 1_000
  static let longestPause = 30_000

  enum Answer: Equatable {
    /// Send with this token; when `fetches`, start a fetch as well.
    case use(String, fetches: Bool)
    /// Wait for the fetch; when `fetches`, start it.
    case wait(fetches: Bool)
    case refuse(AccessTokenFailure)
  }

  private struct Held {
    let text: String
    let fetched: Monotonic
    let refreshAt: Monotonic
    let expires: Monotonic
  }

  private var held: Held?
  private(set) var isFetching = false
  private var failures = 0
  private var failure: (reason: AccessTokenFailure, notBefore: Monotonic)?
  /// The last token that was given up because Google refused it.
  private var refused: String?

  /// Someone wants to send.
  mutating func need(_ now: Monotonic) -> Answer {
    let pauses = failure.map { now < $0.notBefore } ?? false
    if let held, now < held.expires {
      return .use(held.text, fetches: now >= held.refreshAt && !pauses && startFetch())
    }
    if !isFetching, pauses, let failure { return .refuse(failure.reason) }
    return .wait(fetches: startFetch())
  }

  /// Google answered 401 to a request that carried the token. Nil when another fetch would not help: the same token
  /// has been given up before and came back.
  mutating func refused(_ text: String, _ now: Monotonic) -> Answer? {
    guard held?.text == text else { return need(now) }
    guard refused != text else { return nil }
    refused = text
    held = nil
    return need(now)
  }

  /// A fetch that began at `asked` brought a token.
  mutating func fetched(_ token: AccessToken, asked: Monotonic) {
    isFetching = false
    failures = 0
    failure = nil
    let life = max(0, token.lifetime)
    held = Held(
      text: token.text, fetched: asked,
      refreshAt: asked.advanced(milliseconds: Int((life - min(Self.margin, life / 4)) * 1_000)),
      expires: asked.advanced(milliseconds: Int(life * 1_000)))
  }

  /// A fetch brought none.
  mutating func failed(_ reason: AccessTokenFailure, _ now: Monotonic) {
    isFetching = false
    let pause = min(Self.longestPause, Self.firstPause << min(failures, 5))
    failures += 1
    failure = (reason, now.advanced(milliseconds: pause))
  }

  /// Seconds since the token was asked for; nil while there is none.
  func age(_ now: Monotonic) -> Double? { held.map { now.seconds(since: $0.fetched) } }

  private mutating func startFetch() -> Bool {
    defer { isFetching = true }
    return !isFetching
  }
}
