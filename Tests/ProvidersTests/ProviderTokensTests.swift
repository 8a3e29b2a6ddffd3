import Loop
import Testing

@testable import Providers

/// A clock that the test sets, and a signer that counts.
private struct Bench {
  /// Unix seconds, at a full step.
  static let start: Int64 = 3_000 * 600_000

  var tokens = ProviderTokens { "\($0)" }
  var wallOffset: Int64 = 0
  private var seconds: Int64 = 0

  private var now: Monotonic { Monotonic(nanoseconds: UInt64(seconds) * 1_000_000_000) }
  private var wall: Int64 { (Self.start + seconds + wallOffset) * 1_000 }

  mutating func pass(minutes: Int64) { seconds += minutes * 60 }
  mutating func pass(seconds more: Int64) { seconds += more }
  mutating func pass(to second: Int64) { seconds = max(seconds, second) }

  /// The token that a push would carry, as seconds between its issue time and the start.
  mutating func token() throws -> Int64 {
    let text = try tokens.current(wall: wall, now: now)
    return try #require(Int64(text)) - Self.start
  }

  /// The same, and Apple answers it.
  mutating func send() throws -> Int64 {
    let issued = try token()
    tokens.noteUse(of: "\(issued + Self.start)", now)
    return issued
  }

  mutating func expired(_ issued: Int64) throws -> Bool {
    try tokens.expired("\(issued + Self.start)", wall: wall, now: now)
  }
}

/// Numbers that look random and are the same each time.
private struct Steps {
  private var state: UInt64 = 7

  mutating func next(_ bound: Int64) -> Int64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int64(state >> 33) % bound
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

  @Test("Eight workers that start at any second, some with clocks minutes off, show one new token in 50 minutes")
  func fleet() throws {
    var generator = Steps()
    let starts: [Int64] = [0] + (1..<8).map { _ in generator.next(20_000) }
    var workers = starts.map { start in
      var bench = Bench()
      bench.pass(seconds: start)
      return bench
    }
    workers[3].wallOffset = -240
    workers[4].wallOffset = 240
    var firsts: [Int64: Int64] = [:]
    for second in stride(from: Int64(0), to: 40_000, by: 5) {
      // Somebody sets a clock back.
      if second == 25_000 { workers[5].wallOffset = -300 }
      for number in workers.indices where second >= starts[number] {
        workers[number].pass(to: second)
        let issued = try workers[number].send()
        firsts[issued] = min(second, firsts[issued] ?? second)
      }
    }
    let times = firsts.values.sorted()
    #expect((13...14).contains(times.count), "one in 50 minutes")
    for (earlier, later) in zip(times, times.dropFirst()) { #expect(later - earlier >= 1_200) }
  }

  @Test("A lone worker that starts at any second keeps a token for 20 minutes as far as Apple's hour allows")
  func anyStart() throws {
    for start in stride(from: Int64(0), to: 3_000, by: 7) {
      var bench = Bench()
      bench.pass(seconds: start)
      var last = try bench.send()
      var since = start
      let firstLife = min(1_200, Int64(ProviderTokens.longest) - start)
      for second in stride(from: start, to: start + 12_000, by: 10) {
        bench.pass(to: second)
        let issued = try bench.send()
        #expect(second - issued < 3_310)
        guard issued != last else { continue }
        #expect(second - since >= (last == 0 ? firstLife : 1_200))
        (last, since) = (issued, second)
      }
    }
  }

  @Test("Workers whose token Apple calls expired in the same minute make the same new one")
  func commonSuccessor() throws {
    var issued: Set<Int64> = []
    for worker in Int64(0)..<8 {
      var bench = Bench()
      let before = try bench.send()
      bench.pass(seconds: 600 + worker * 7)
      #expect(try bench.expired(before))
      issued.insert(try bench.send())
    }
    #expect(issued == [600])
  }

  @Test("A token that Apple has not seen ages without harm: the first use begins with a young one")
  func firstUse() throws {
    var bench = Bench()
    #expect(try bench.token() == 0)
    bench.pass(minutes: 50)
    // Half an hour into its step.
    bench.pass(minutes: 30)
    #expect(try bench.send() == 3_000)
    bench.pass(minutes: 19)
    #expect(try bench.send() == 3_000)
    bench.pass(minutes: 1)
    #expect(try bench.send() == 6_000)
  }

  @Test("A first use near the end of a step keeps the token beyond it")
  func lateFirstUse() throws {
    var bench = Bench()
    bench.pass(minutes: 34)
    #expect(try bench.send() == 0)
    bench.pass(minutes: 19)
    #expect(try bench.send() == 0)
    bench.pass(minutes: 1)
    #expect(try bench.send() == 3_000)
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
