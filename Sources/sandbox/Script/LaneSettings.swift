/// How one of the three push servers behaves towards everybody.
struct LaneSettings: Sendable {
  /// What a connection does after APNs has refused its provider token as expired or as changed too often.
  enum Wedge: String, CaseIterable, Sendable {
    /// Nothing: the next request is looked at afresh.
    case off
    /// Every request that follows fails for the same reason.
    case fail
    /// No request that follows is ever answered.
    case hang
  }

  /// Before each answer, in ms.
  var latency = 0
  /// GOAWAY after every so many requests of a connection; 0 is never.
  var goawayEvery = 0
  /// What the debug bytes of those GOAWAYs say.
  var goawayReason: String?
  /// Whether the connection stays open after a GOAWAY until the sender closes it.
  var goawayKeepsOpen = false
  var wedge = Wedge.off
  /// Streams that a connection may have open until a push has been accepted on it; counts for connections to come.
  var firstStreamLimit: Int
  /// Streams that a connection may have open once a push has been accepted on it.
  var maxConcurrentStreams: Int
  /// How long a connection must stay with a provider token before it may show the next, in ms.
  var tokenUpdateInterval = 1_200_000
  /// Requests per second and connection; what comes faster waits. 0 is no bound.
  var connectionRate = 0
  /// Added to the clock that tokens are judged by, in seconds.
  var clockOffset: Int64 = 0

  private init(firstStreamLimit: Int, maxConcurrentStreams: Int) {
    self.firstStreamLimit = firstStreamLimit
    self.maxConcurrentStreams = maxConcurrentStreams
  }

  /// Apple lets a connection have one stream until it has seen a good provider token there.
  static let apple = LaneSettings(firstStreamLimit: 1, maxConcurrentStreams: 1_000)
  /// What Google's servers are seen to allow.
  static let google = LaneSettings(firstStreamLimit: 100, maxConcurrentStreams: 100)
}
