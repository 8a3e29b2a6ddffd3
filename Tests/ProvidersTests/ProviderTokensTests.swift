import Loop
import Testing

@testable import Providers

/// A clock that the test sets, and a signer that counts.
private struct Bench {
  /// Unix seconds, at a full step.
  static let start: Int64 = 1_500 * 1_200_000

  var tokens = ProviderTokens { "\($0)" }
  var wallOffset: Int64 = 0
  private var seconds: Int64 = 0

  private var now: Monotonic { Monotonic(nanoseconds: UInt64(seconds) * 1_000_000_000) }
  private var wall: Int64 { (Self.start + seconds + wallOffset) * 1_000 }

  mutating func pass(minutes: Int64) { seconds += minutes * 60 }

  /// The token that a push would carry, as seconds between its issue time and the start.
  mutating func token() throws -> Int64 {
    let text = try tokens.current(wall: wall, now: now)
    return try #require(Int64(text)) - Self.start
  }

  /// The same, and Apple answers it.
  mutating func send() throws -> Int64 {
    let issued = try token()
    tokens.noteUse(of: "\(issued + Self.start)")
    return issued
  }

  mutating func expired(_ issued: Int64) throws -> Bool {
    try tokens.expired("\(issued + Self.start)", wall: wall, now: now)
  }
}

@Suite("Provider tokens")
struct ProviderTokensTests {
  @Test("Ten thousand sends show one token; it is replaced after 50 minutes, not before")
  func replacement() throws {
    var bench = Bench()
    for _ in 0..<10_000 { #expect(try bench.send() == 0) }
    bench.pass(minutes: 49)
    #expect(try bench.send() == 0)
    bench.pass(minutes: 1)
    #expect(try bench.send() == 3_000)
    bench.pass(minutes: 49)
    #expect(try bench.send() == 3_000)
    bench.pass(minutes: 1)
    #expect(try bench.send() == 6_000)
  }

  @Test("Workers that start at different moments show the same tokens, one in 20 minutes at the most")
  func workers() throws {
    var seen: [Int64: Int64] = [:]
    for worker in Int64(0)..<8 {
      var bench = Bench()
      bench.pass(minutes: worker * 7)
      for minute in worker * 7..<300 {
        let issued = try bench.send()
        #expect(minute * 60 - issued < 3_000)
        seen[issued] = min(minute, seen[issued] ?? minute)
        bench.pass(minutes: 1)
      }
    }
    let firsts = seen.values.sorted()
    for (earlier, later) in zip(firsts, firsts.dropFirst()) { #expect(later - earlier >= 20) }
  }

  @Test("No worker changes its token within 20 minutes of its first use", arguments: Int64(0)..<50)
  func spacing(_ begin: Int64) throws {
    var bench = Bench()
    bench.pass(minutes: begin)
    var last = try bench.send()
    var since: Int64 = 0
    for _ in 0..<200 {
      bench.pass(minutes: 1)
      since += 1
      let issued = try bench.send()
      if issued != last {
        #expect(since >= 20)
        last = issued
        since = 0
      }
    }
  }

  @Test("A token that Apple has not seen ages without harm: the first use begins with a young one")
  func firstUse() throws {
    var bench = Bench()
    #expect(try bench.token() == 0)
    bench.pass(minutes: 45)
    #expect(try bench.send() == 1_500)
    bench.pass(minutes: 29)
    #expect(try bench.send() == 1_500)
    bench.pass(minutes: 1)
    #expect(try bench.send() == 4_500)
  }

  @Test("The clock that somebody sets makes no new token")
  func clockSteps() throws {
    var bench = Bench()
    #expect(try bench.send() == 0)
    for offset in [Int64(-86_400), 86_400, 0] {
      bench.wallOffset = offset
      #expect(try bench.send() == 0)
    }
  }

  @Test("An expired token is replaced once, by one for this moment; then the clock is to blame")
  func expiry() throws {
    var bench = Bench()
    bench.pass(minutes: 3)
    #expect(try bench.send() == 0)
    #expect(try bench.expired(0))
    #expect(try bench.send() == 180)
    // Late answers to the old token change nothing.
    #expect(try bench.expired(0))
    #expect(try bench.send() == 180)
    bench.pass(minutes: 19)
    #expect(try !bench.expired(180))
    #expect(try bench.send() == 180)
    bench.pass(minutes: 1)
    #expect(try bench.expired(180))
    #expect(try bench.send() == 1_380)
  }

  @Test("The age is that of the token in use")
  func age() throws {
    var bench = Bench()
    #expect(bench.tokens.age(Monotonic(nanoseconds: 0)) == nil)
    _ = try bench.send()
    #expect(bench.tokens.age(Monotonic(nanoseconds: 7_000_000_000)) == 7)
  }
}
