internal import Json
internal import Loop

/// What the sandbox remembers of one connection.
@LoopActor
final class Connection {
  let lane: Lane
  let id: Int
  private(set) var requests = 0
  private(set) var inFlight = 0
  private(set) var mostInFlight = 0
  /// The stream limit that the other end was last told.
  var streamLimit: Int
  /// Whether a push has been accepted here.
  var hasAccepted = false
  /// The provider token in use, and since when.
  var providerToken: (text: String, since: Monotonic)?
  /// What the GOAWAY named: streams above it are not looked at, since the sender will send their pushes elsewhere.
  private var lastStream: Int?
  /// Why every request fails from now on.
  var wedgedBy: String?
  private var nextTurn = Monotonic.now

  init(lane: Lane, id: Int, streamLimit: Int) {
    self.lane = lane
    self.id = id
    self.streamLimit = streamLimit
  }

  func enter() {
    requests += 1
    inFlight += 1
    mostInFlight = max(mostInFlight, inFlight)
  }

  func leave() { inFlight -= 1 }

  /// A GOAWAY goes out; a later one can only lower what the first named.
  func leaveOut(above stream: Int) { lastStream = min(lastStream ?? .max, stream) }

  func leavesOut(_ stream: Int) -> Bool { lastStream.map { stream > $0 } ?? false }

  /// How long the next request has to wait, in ms, for the connection to keep to `rate` requests a second.
  func turn(rate: Int) -> Int {
    guard rate > 0 else { return 0 }
    let now = Monotonic.now
    let turn = max(now, nextTurn)
    nextTurn = Monotonic(nanoseconds: turn.nanoseconds + 1_000_000_000 / UInt64(rate))
    return turn.milliseconds(since: now)
  }

  func write(_ text: inout JsonText) {
    text.object { text in
      text.member("provider", lane.provider.rawValue)
      text.member("environment", ifPresent: lane.environment?.rawValue)
      text.member("connection", id)
      text.member("requests", requests)
      text.member("maxInFlight", mostInFlight)
      text.member("streamLimit", streamLimit)
    }
  }
}

/// The connections that requests came on.
@LoopActor
final class Connections {
  /// Connections that are remembered; the oldest goes first.
  private static let limit = 4_096

  private struct Key: Hashable {
    let lane: Lane
    let id: Int
  }

  private var known: [Key: Connection] = [:]
  private var order: [Key] = []

  /// The connection of that id, which is told apart from those of other servers.
  func connection(_ lane: Lane, _ id: Int, streamLimit: Int) -> Connection {
    let key = Key(lane: lane, id: id)
    if let connection = known[key] { return connection }
    if order.count >= Self.limit {
      for old in order.prefix(Self.limit / 2) { known[old] = nil }
      order.removeFirst(Self.limit / 2)
    }
    let connection = Connection(lane: lane, id: id, streamLimit: streamLimit)
    known[key] = connection
    order.append(key)
    return connection
  }

  /// Writes those on which a request has come, oldest first.
  func write(_ text: inout JsonText) {
    for key in order { known[key]?.write(&text) }
  }
}
