import Testing

@testable import api

@Suite struct AdmissionQueueTests {
  /// Adds a send; whether there was room.
  private func add(_ host: Int64, _ name: String = "", to queue: inout AdmissionQueue<String>) -> Bool {
    queue.add(name, host: host)
  }

  /// What the next commit takes.
  private func take(_ queue: inout AdmissionQueue<String>) -> [String] { queue.take().elements }

  /// A queue with sends named by their host and number.
  private func queue(_ sends: [(host: Int64, count: Int)]) -> AdmissionQueue<String> {
    var queue = AdmissionQueue<String>()
    for (host, count) in sends {
      for number in 0..<count { _ = queue.add("\(host).\(number)", host: host) }
    }
    return queue
  }

  @Test func `A lonely send is taken by itself`() {
    var queue = queue([(7, 1)])
    #expect(queue.hasNext)
    #expect(take(&queue) == ["7.0"])
    #expect(!queue.hasNext)
    #expect(queue.count == 0)
  }

  @Test func `A commit takes four of one host at most, and its next only when it has ended`() {
    var queue = queue([(1, 10)])
    let first = queue.take()
    #expect(first.elements == ["1.0", "1.1", "1.2", "1.3"])
    #expect(!queue.hasNext)
    #expect(add(1, "1.10", to: &queue))
    #expect(!queue.hasNext)
    queue.ended(first.hosts)
    #expect(take(&queue) == ["1.4", "1.5", "1.6", "1.7"])
    queue.ended([1])
    #expect(take(&queue) == ["1.8", "1.9", "1.10"])
    queue.ended([1])
    #expect(!queue.hasNext)
  }

  @Test func `Every host has one in before any has two`() {
    var queue = queue([(1, 64), (2, 2), (3, 1)])
    #expect(take(&queue) == ["1.0", "2.0", "3.0", "1.1", "2.1", "1.2", "1.3"])
  }

  @Test func `A commit takes 64, and who is left over is first next time`() {
    var queue = queue((1...80).map { (Int64($0), 2) })
    let first = queue.take()
    #expect(first.elements == (1...64).map { "\($0).0" })
    let second = queue.take()
    #expect(second.elements == (65...80).map { "\($0).0" } + (65...80).map { "\($0).1" })
    queue.ended(second.hosts)
    queue.ended(first.hosts)
    #expect(take(&queue) == (1...64).map { "\($0).1" })
    #expect(queue.count == 0)
  }

  @Test func `A host has 64 waiting at most and all together 1,024`() {
    var queue = AdmissionQueue<String>()
    for number in 0..<70 { #expect(add(1, to: &queue) == (number < 64)) }
    for host in Int64(2)...16 {
      for _ in 0..<64 { #expect(add(host, to: &queue)) }
    }
    #expect(queue.count == 1_024)
    #expect(!add(17, to: &queue))
    let taken = queue.take()
    #expect(queue.count == 1_024 - taken.elements.count)
    #expect(add(17, to: &queue))
  }

  @Test(arguments: [1, 7, 42]) func `Nothing is lost, doubled or put out of its host's order`(seed: UInt64) {
    var random = SplitMix(state: seed)
    var queue = AdmissionQueue<(host: Int64, number: Int)>()
    var added: [Int64: Int] = [:]
    var taken: [Int64: Int] = [:]
    var underWay: [[Int64]] = []
    for _ in 0..<5_000 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1:
        let host = Int64.random(in: 0..<12, using: &random)
        if queue.add((host, added[host, default: 0]), host: host) { added[host, default: 0] += 1 }
      case 2 where queue.hasNext && underWay.count < 2:
        let (elements, hosts) = queue.take()
        #expect(!elements.isEmpty && elements.count <= 64)
        #expect(Set(hosts).isDisjoint(with: underWay.joined()))
        for element in elements {
          #expect(element.number == taken[element.host, default: 0])
          taken[element.host, default: 0] += 1
        }
        underWay.append(hosts)
      default: if !underWay.isEmpty { queue.ended(underWay.removeFirst()) }
      }
    }
    while let hosts = underWay.popLast() { queue.ended(hosts) }
    while queue.hasNext {
      let (elements, hosts) = queue.take()
      for element in elements { taken[element.host, default: 0] += 1 }
      queue.ended(hosts)
    }
    #expect(taken == added)
    #expect(queue.count == 0)
  }
}

/// The same numbers on every run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
