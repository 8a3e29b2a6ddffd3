internal import Http

/// What a run of the sender is to do.
struct SenderPlan {
  let origin: Origin
  /// Requests in flight on each connection, 1 to 1,000.
  let streams: Int
  /// 1 to 16.
  let connections: Int
  /// In all, at least one.
  let requests: Int

  /// Absent when a word is missing or out of bounds.
  init?(_ words: [String]) {
    guard words.count == 4, let url = Url(words[0]), url.origin.secure,
      let streams = Int(words[1]), (1...1_000).contains(streams),
      let connections = Int(words[2]), (1...16).contains(connections),
      let requests = Int(words[3]), requests > 0
    else { return nil }
    origin = url.origin
    self.streams = streams
    self.connections = connections
    self.requests = requests
  }
}
