internal import Contract
internal import Keys

/// The access tokens that the sandbox has issued.
struct AccessTokens: Sendable {
  /// Tokens that are remembered: the oldest goes first.
  private static let limit = 10_000

  /// Seconds that the next tokens are good for.
  var life: Int64 = 3_600
  /// Tokens issued since the start.
  private(set) var issued = 0
  private var ends: [String: Int64] = [:]
  private var order: [String] = []

  /// A new token, good for `life` seconds from `now` (ms since 1970).
  mutating func issue(now: Int64) -> String {
    let token = "ya29.sandbox." + Base64Url.encode(SecureRandom.bytes(32))
    if order.count >= 2 * Self.limit {
      for old in order.prefix(Self.limit) { ends[old] = nil }
      order.removeFirst(Self.limit)
    }
    order.append(token)
    ends[token] = now + life * 1_000
    issued += 1
    return token
  }

  /// Whether the field is `Bearer` and a token of ours that still holds at `now` (ms since 1970).
  func accepts(authorization: String?, now: Int64) -> Bool {
    guard let words = authorization?.split(separator: " "), words.count == 2, words[0].lowercased() == "bearer",
      let end = ends[String(words[1])]
    else { return false }
    return now < end
  }

  /// Makes every token issued so far worthless.
  mutating func revoke() {
    ends = [:]
    order = []
  }
}
