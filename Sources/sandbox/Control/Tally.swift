internal import Json

/// Counts of requests since the last reset.
struct Tally: Sendable {
  /// Which requests a question is about; nil is any.
  struct Filter: Sendable {
    var provider: Provider?
    var environment: ApnsEnvironment?
    /// 0 is those that got no answer.
    var status: Int?
    var reason: String?
  }

  private struct Kind: Hashable {
    let lane: Lane
    let status: Int
    let reason: String
  }

  /// Tokens and credentials that are told apart; beyond, they are no longer counted.
  private static let limit = 1_000_000

  private(set) var arrived = 0
  private(set) var settled = 0
  private var kinds: [Kind: Int] = [:]
  private var delivered = 0
  private var tokens: Set<String> = []
  private var providerTokens: Set<String> = []
  private var accessTokens: Set<String> = []

  mutating func arrive(_ lane: Lane, credential: Credential?) {
    arrived += 1
    guard let credential, providerTokens.count + accessTokens.count < Self.limit else { return }
    if lane.provider == .apns {
      providerTokens.insert(credential.digest)
    } else {
      accessTokens.insert(credential.digest)
    }
  }

  mutating func settle(_ lane: Lane, token: String, _ outcome: Outcome) {
    settled += 1
    kinds[Kind(lane: lane, status: outcome.status, reason: outcome.reason), default: 0] += 1
    guard outcome.isDelivered else { return }
    delivered += 1
    if tokens.count < Self.limit { tokens.insert(token) }
  }

  /// Requests that have ended and that the filter fits.
  func count(_ filter: Filter) -> Int {
    kinds.reduce(0) { sum, entry in
      let (kind, count) = entry
      let fits =
        (filter.provider == nil || filter.provider == kind.lane.provider)
        && (filter.environment == nil || filter.environment == kind.lane.environment)
        && (filter.status == nil || filter.status == kind.status)
        && (filter.reason == nil || filter.reason == kind.reason)
      return fits ? sum + count : sum
    }
  }

  /// Writes the members of a summary.
  func write(_ text: inout JsonText) {
    text.member("arrived", arrived)
    text.member("settled", settled)
    text.member("delivered", delivered)
    text.member("deliveredTokens", tokens.count)
    text.member("providerTokens", providerTokens.count)
    text.member("accessTokens", accessTokens.count)
    text.array("answers") { text in
      let order = { (kind: Kind) in
        (kind.lane.provider.rawValue, kind.lane.environment?.rawValue ?? "", kind.status, kind.reason)
      }
      for (kind, count) in kinds.sorted(by: { order($0.key) < order($1.key) }) {
        text.object { text in
          text.member("provider", kind.lane.provider.rawValue)
          text.member("environment", ifPresent: kind.lane.environment?.rawValue)
          text.member("status", kind.status)
          text.member("reason", kind.reason)
          text.member("count", count)
        }
      }
    }
  }
}
