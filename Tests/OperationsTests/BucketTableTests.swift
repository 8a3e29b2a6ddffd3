import Loop
import Testing

@testable import Operations

@Suite struct BucketTableTests {
  private func at(_ milliseconds: Int) -> Monotonic { Monotonic(nanoseconds: 0).advanced(milliseconds: milliseconds) }

  @Test(arguments: [30, 600, 1, 7])
  func `A bucket holds its amount and then says when to come back`(amount: Int) {
    var table = BucketTable<String>(perMinute: amount)
    for _ in 0..<amount { #expect(table.take("a", now: at(5_000)) == .ok) }
    let seconds = (60 + amount - 1) / amount
    #expect(table.take("a", now: at(5_000)) == .wait(seconds: seconds))
    #expect(table.check("a", now: at(5_000)) == .wait(seconds: seconds))
    #expect(table.take("b", now: at(5_000)) == .ok)
    #expect(table.take("a", now: at(5_000 + seconds * 1000)) == .ok)
  }

  @Test func `It refills continuously, and what is refused costs nothing`() {
    var table = BucketTable<String>(perMinute: 30)
    for _ in 0..<30 { _ = table.take("a", now: at(0)) }
    for _ in 0..<100 { #expect(table.take("a", now: at(1)) == .wait(seconds: 2)) }
    #expect(table.take("a", now: at(1_999)) == .wait(seconds: 1))
    #expect(table.take("a", now: at(2_000)) == .ok)
    #expect(table.take("a", now: at(2_000)) == .wait(seconds: 2))
    #expect(table.take("a", now: at(6_500)) == .ok)
    #expect(table.take("a", now: at(6_500)) == .ok)
    #expect(table.take("a", now: at(6_500)) == .wait(seconds: 2))
    #expect(table.take("a", now: at(8_000)) == .ok)
  }

  @Test func `In any minute and a bit, no more than two buckets' worth is given`() {
    var table = BucketTable<String>(perMinute: 600)
    var given = 0
    for millisecond in 0..<60_000 where table.take("a", now: at(millisecond)) == .ok { given += 1 }
    #expect(given == 1199)
  }

  @Test func `A full bucket gains nothing by waiting`() {
    var table = BucketTable<String>(perMinute: 30)
    _ = table.take("a", now: at(0))
    for _ in 0..<30 { #expect(table.take("a", now: at(86_400_000)) == .ok) }
    #expect(table.take("a", now: at(86_400_000)) == .wait(seconds: 2))
  }

  @Test func `Checking takes nothing and remembers nothing`() {
    var table = BucketTable<String>(perMinute: 1)
    for _ in 0..<10 { #expect(table.check("a", now: at(0)) == .ok) }
    #expect(table.count == 0)
    #expect(table.take("a", now: at(0)) == .ok)
    #expect(table.check("a", now: at(0)) == .wait(seconds: 60))
  }

  @Test func `Time that runs backwards gives nothing away and breaks nothing`() {
    var table = BucketTable<String>(perMinute: 1)
    #expect(table.take("a", now: at(100_000)) == .ok)
    #expect(table.take("a", now: at(50_000)) == .wait(seconds: 110))
  }

  @Test func `The key that was used longest ago goes when there are too many`() {
    var table = BucketTable<Int>(perMinute: 1, keyLimit: 3)
    for key in [1, 2, 3] { #expect(table.take(key, now: at(0)) == .ok) }
    // A refusal is a use: an attacker keeps the bucket that holds him.
    #expect(table.take(1, now: at(0)) == .wait(seconds: 60))
    #expect(table.take(4, now: at(0)) == .ok)
    #expect(table.count == 3)
    #expect(table.check(1, now: at(0)) == .wait(seconds: 60))
    #expect(table.check(2, now: at(0)) == .ok)
    #expect(table.check(3, now: at(0)) == .wait(seconds: 60))
    #expect(table.check(4, now: at(0)) == .wait(seconds: 60))
  }

  @Test func `Ten thousand keys is the bound, in the order of a plain list`() {
    var table = BucketTable<Int>(perMinute: 1)
    var order: [Int] = []
    var random = UInt64(42)
    for step in 0..<30_000 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let key = step < 12_000 ? step : Int(random >> 33) % 12_000
      _ = table.take(key, now: at(0))
      order.append(key)
    }
    #expect(table.count == 10_000)
    var kept = Set<Int>()
    for key in order.reversed() where kept.count < 10_000 { kept.insert(key) }
    for key in 0..<12_000 { #expect((table.check(key, now: at(0)) == .ok) == !kept.contains(key)) }
  }

  @Test func `One key alone works`() {
    var table = BucketTable<Int>(perMinute: 1, keyLimit: 1)
    for key in 0..<10 { #expect(table.take(key, now: at(0)) == .ok) }
    #expect(table.take(9, now: at(0)) == .wait(seconds: 60))
    #expect(table.count == 1)
  }
}
