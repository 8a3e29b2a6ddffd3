import Http
import Loop
import Testing

/// Tests of the client over sockets, one after another: they share the loop with their servers, and some keep it busy
/// for longer than others may wait.
@Suite("HTTP client over sockets", .serialized) enum ClientLiveTests {}

/// What happened to a pool.
@LoopActor
final class EventLog {
  private(set) var events: [Http2PoolEvent] = []

  func add(_ event: Http2PoolEvent) { events.append(event) }

  var goAways: [String] { events.compactMap { if case .goneAway(let notice) = $0 { notice.reason } else { nil } } }
  var connects: Int { events.filter { if case .connected = $0 { true } else { false } }.count }
  var losses: [String] { events.compactMap { if case .lost(let text) = $0 { text } else { nil } } }
  var connectFailures: [ConnectFailure] {
    events.compactMap { if case .connectFailed(let failure) = $0 { failure } else { nil } }
  }
}

/// A pool that speaks without TLS to a port of this machine, with short limits, and the log of what happened to it.
@LoopActor
struct Bench {
  let pool: Http2Pool
  let origin: Origin
  let log = EventLog()

  init(
    _ port: UInt16, host: String = "127.0.0.1", resolver: NameResolver = .system,
    _ change: (inout Http2PoolLimits) -> Void = { _ in }
  ) {
    origin = Origin(host: host, port: port, secure: false)
    var limits = Http2PoolLimits.patient
    limits.firstPause = 5
    limits.longestPause = 20
    change(&limits)
    pool = Http2Pool(origin: origin, tls: nil, limits: limits, resolver: resolver) { [log] in log.add($0) }
  }

  /// Requests whose bodies are their numbers.
  func numbered(_ count: Int, deadline: Int = 60_000) -> [Http2ClientRequest] {
    (0..<count).map { number in
      var request = push(origin, deadline: deadline)
      request.body = Array("\(number)".utf8)
      return request
    }
  }
}

/// Waits until `condition` holds: what it looks at changes on the loop alone, so a look now and then misses nothing.
/// A minute without it is a failure.
@LoopActor
func until(_ location: SourceLocation = #_sourceLocation, _ condition: @LoopActor () -> Bool) async {
  let end = Monotonic.now.advanced(milliseconds: 60_000)
  while !condition() {
    guard Monotonic.now < end else {
      Issue.record("waited in vain", sourceLocation: location)
      return
    }
    try? await EventLoop.shared.sleep(milliseconds: 1)
  }
}
