import Loop
import Testing

@testable import Http

@Suite("HTTP/2 connection rules")
struct ClientConnectionStateTests {
  static let limits: Http2PoolLimits = {
    var limits = Http2PoolLimits()
    limits.streamsPerConnection = 100
    return limits
  }()

  @Test("No request may go before the server's settings")
  func opening() {
    var state = Http2ConnectionState(limits: Self.limits)
    #expect(state.free == 0)
    #expect(state.settings(limit: 1) == .opened)
    #expect(state.free == 1)
  }

  @Test("The limit is followed as it changes, and ours holds where it is lower")
  func limits() {
    var state = Http2ConnectionState(limits: Self.limits)
    _ = state.settings(limit: 1)
    _ = state.submitted(1)
    #expect(state.free == 0)
    #expect(state.settings(limit: 4_294_967_295) == .none)
    #expect(state.free == 99)
    for id in 1..<10 { _ = state.submitted(Int32(2 * id + 1)) }
    _ = state.settings(limit: 5)
    #expect(state.free == 0)
    for _ in 0..<5 { #expect(state.streamClosed() == .none) }
    #expect(state.free == 0)
    _ = state.streamClosed()
    #expect(state.free == 1)
    _ = state.settings(limit: 0)
    #expect(state.free == 0)
  }

  @Test("A draining connection takes nothing new and closes with its last stream")
  func draining() {
    var state = Http2ConnectionState(limits: Self.limits)
    _ = state.settings(limit: 10)
    _ = state.submitted(1)
    _ = state.submitted(3)
    #expect(state.drain() == .startedDraining)
    #expect(state.free == 0)
    #expect(state.drain() == .none)
    #expect(state.streamClosed() == .none)
    #expect(state.streamClosed() == .close)
    #expect(state.phase == .closed)
  }

  @Test("An idle connection that is to drain closes at once")
  func drainingIdle() {
    var state = Http2ConnectionState(limits: Self.limits)
    _ = state.settings(limit: 10)
    #expect(state.drain() == .close)
    #expect(state.free == 0)
  }

  @Test("A connection whose stream ids run out drains")
  func streamIds() {
    var state = Http2ConnectionState(limits: Self.limits)
    _ = state.settings(limit: 10)
    #expect(state.submitted(Self.limits.lastStreamId - 1) == .none)
    #expect(state.submitted(Self.limits.lastStreamId + 1) == .startedDraining)
    #expect(state.free == 0)
  }

  // MARK: Liveness

  static func at(_ milliseconds: Int) -> Monotonic { Monotonic(nanoseconds: 0).advanced(milliseconds: milliseconds) }

  static let start = at(1_000_000)

  @Test("An idle connection is pinged; an answer keeps it, silence ends it")
  func idle() {
    let limits = Http2PoolLimits()
    var liveness = Http2Liveness(limits: limits, now: Self.start)
    let ping = Self.start.advanced(milliseconds: limits.idlePing)
    #expect(liveness.nextCheck == ping)
    #expect(liveness.check(Self.at(1_200_000), waiting: false) == .alive)
    #expect(liveness.check(ping, waiting: false) == .ping)
    #expect(liveness.nextCheck == ping.advanced(milliseconds: limits.pingTimeout))
    var silent = liveness
    #expect(silent.check(ping.advanced(milliseconds: limits.pingTimeout), waiting: false) == .dead)
    liveness.received(ping.advanced(milliseconds: 20), waiting: false)
    #expect(liveness.check(ping.advanced(milliseconds: limits.pingTimeout), waiting: false) == .alive)
    #expect(liveness.nextCheck == ping.advanced(milliseconds: 20 + limits.idlePing))
  }

  @Test("A request after silence takes one PING along, others do not")
  func silence() {
    let limits = Http2PoolLimits()
    var liveness = Http2Liveness(limits: limits, now: Self.start)
    #expect(liveness.submitting(Self.start.advanced(milliseconds: limits.silence - 1), alone: true) == .alive)
    let late = Self.start.advanced(milliseconds: limits.silence)
    #expect(liveness.submitting(late, alone: false) == .ping)
    #expect(liveness.submitting(late, alone: false) == .alive)
    #expect(liveness.check(late.advanced(milliseconds: limits.pingTimeout), waiting: true) == .dead)
  }

  @Test("A peer that goes silent is found dead within 5 s of the next request, however fresh its last byte")
  func unheard() {
    let limits = Http2PoolLimits()
    #expect(limits.unheard + limits.pingTimeout < 5_000)
    var liveness = Http2Liveness(limits: limits, now: Self.start)
    liveness.received(Self.start, waiting: false)
    let sent = Self.start.advanced(milliseconds: 1)
    #expect(liveness.submitting(sent, alone: true) == .alive)
    let ping = sent.advanced(milliseconds: limits.unheard)
    #expect(liveness.nextCheck == ping)
    #expect(liveness.check(ping, waiting: true) == .ping)
    #expect(liveness.check(ping.advanced(milliseconds: limits.pingTimeout), waiting: true) == .dead)
  }

  @Test("One answered PING is enough for those that wait; the next request may ask again")
  func slowPeer() {
    let limits = Http2PoolLimits()
    var liveness = Http2Liveness(limits: limits, now: Self.start)
    _ = liveness.submitting(Self.start, alone: true)
    let ping = Self.start.advanced(milliseconds: limits.unheard)
    #expect(liveness.check(ping, waiting: true) == .ping)
    let answered = ping.advanced(milliseconds: 300)
    liveness.received(answered, waiting: true)
    #expect(liveness.nextCheck == answered.advanced(milliseconds: limits.idlePing))
    let next = answered.advanced(milliseconds: 700)
    #expect(liveness.submitting(next, alone: false) == .alive)
    #expect(liveness.nextCheck == next.advanced(milliseconds: limits.unheard))
  }

  @Test("A connection on which nothing waits is left in peace")
  func nothingWaits() {
    let limits = Http2PoolLimits()
    var liveness = Http2Liveness(limits: limits, now: Self.start)
    _ = liveness.submitting(Self.start, alone: true)
    let answered = Self.start.advanced(milliseconds: 40)
    liveness.received(answered, waiting: true)
    #expect(liveness.check(answered.advanced(milliseconds: limits.unheard), waiting: false) == .alive)
    #expect(liveness.nextCheck == answered.advanced(milliseconds: limits.idlePing))
    // A request after a pause counts from itself.
    let next = answered.advanced(milliseconds: 1_900)
    _ = liveness.submitting(next, alone: true)
    #expect(liveness.nextCheck == next.advanced(milliseconds: limits.unheard))
  }

  @Test("Time-outs in a row without any answer end the connection; one slow answer among others does not")
  func timeouts() {
    let limits = Http2PoolLimits()
    var liveness = Http2Liveness(limits: limits, now: Self.start)
    let submitted = Self.start.advanced(milliseconds: 5)
    let late = Self.start.advanced(milliseconds: 10_005)
    #expect(liveness.timedOut(submitted: submitted, late) == .ping)
    #expect(liveness.timedOut(submitted: submitted, late) == .alive)
    #expect(liveness.timedOut(submitted: submitted, late) == .dead)

    var busy = Http2Liveness(limits: limits, now: Self.start)
    busy.received(Self.start.advanced(milliseconds: 6), waiting: true)
    busy.answered()
    for _ in 0..<10 { #expect(busy.timedOut(submitted: submitted, late) == .alive) }

    var fresh = Http2Liveness(limits: limits, now: Self.start)
    let soon = submitted.advanced(milliseconds: limits.pingTimeout - 1)
    for _ in 0..<10 { #expect(fresh.timedOut(submitted: submitted, soon) == .alive) }
  }

  // MARK: Backoff

  @Test("Pauses between failing connects double up to their bound and shrink by jitter", arguments: [0.0, 0.5, 1.0])
  func backoff(random: Double) {
    var limits = Http2PoolLimits()
    limits.firstPause = 100
    limits.longestPause = 5_000
    var backoff = ConnectBackoff(limits: limits)
    for full in [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000] {
      backoff.failed(Self.start, random: random)
      #expect(backoff.notBefore.milliseconds(since: Self.start) == full - Int(Double(full) * 0.25 * random))
    }
    backoff.succeeded()
    #expect(backoff.notBefore < Self.start)
  }

  @Test("Connects that succeed have a bound too: a burst, then one in each interval")
  func pace() {
    let limits = Http2PoolLimits()
    var backoff = ConnectBackoff(limits: limits)
    for _ in 0..<limits.connectBurst {
      #expect(backoff.notBefore <= Self.start)
      backoff.began(Self.start)
      backoff.succeeded()
    }
    for number in 1...5 {
      let due = Self.start.advanced(milliseconds: number * limits.connectInterval)
      #expect(backoff.notBefore == due)
      backoff.began(due)
    }
    let later = Self.start.advanced(milliseconds: 60_000)
    for _ in 0..<limits.connectBurst {
      #expect(backoff.notBefore <= later)
      backoff.began(later)
    }
    #expect(backoff.notBefore > later)
  }

  @Test("What a server says at its end is bounded and printable")
  func goAwayReason() {
    let said = Array("a\u{1b}[31m\n\u{0}ü".utf8) + [UInt8](repeating: 0x62, count: 1_000)
    let notice = said.withUnsafeBufferPointer { Http2GoAway(lastStream: 1, code: 0, reason: $0) }
    #expect(notice.reason.hasPrefix("a?[31m????b"))
    #expect(notice.reason.utf8.count == 256)
    #expect(notice.words == notice.reason)
  }

  // MARK: Addresses

  @Test("Addresses alternate between the families, the system's favourite first")
  func families() throws {
    func address(_ text: String) throws -> PeerAddress { try #require(PeerAddress(address: text, port: 443)) }
    let given = try ["::1", "::2", "::3", "127.0.0.1"].map(address)
    let mixed = NameResolver.interleaved(given).map(\.description)
    #expect(mixed == ["[::1]:443", "127.0.0.1:443", "[::2]:443", "[::3]:443"])
    #expect(PeerAddress(address: "example.com", port: 443) == nil)
  }

  // MARK: Requests

  @Test("A header block finds its fields, and pseudo-fields come first")
  func headerBlock() {
    let origin = Origin(host: "example.com", port: 8443)
    var head = HeaderBlock(method: "POST", origin: origin, path: "/3/device/ab")
    head.add("apns-id", "1")
    head.add("apns-id", "2")
    #expect(head[":authority"] == "example.com:8443")
    #expect(head[":path"] == "/3/device/ab")
    #expect(head["apns-id"] == "1")
    #expect(head["apns"] == nil)
    var indexed: [Bool] = []
    head.forEach { indexed.append($0.indexed) }
    #expect(indexed == [true, true, true, false, true, true])
  }

  @Test(
    "Only failures that surely did nothing are safe to send again",
    arguments: [
      (Http2Failure.refused, true), (.overloaded, true), (.connect(ConnectFailure(step: .dns, text: "")), true),
      (.timedOut(sent: false), true), (.timedOut(sent: true), false), (.connectionLost, false),
      (.goneAway("Shutdown"), false), (.reset(2), false),
    ])
  func unprocessed(failure: Http2Failure, expected: Bool) { #expect(failure.isUnprocessed == expected) }
}
