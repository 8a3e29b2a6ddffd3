/// Requests with a few bytes changed, the same in every run.
struct ServerRequestMutations {
  private var generator: SplitMix
  private static let seeds = [
    "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /b?c HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nabc\r\n0\r\nT: v\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: \ty \t\r\n\r\n",
    "\r\nPOST / HTTP/1.0\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc",
    "POST /a HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
  ].map { Array($0.utf8) }
  private static let telling: [[UInt8]] =
    [[13], [10], [13, 10], [32], [9], [58], [48], [0], [255], [44], [43], [59]]
    + ["Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "Host: y\r\n", "0\r\n\r\n", "HTTP/1.1"].map {
      Array($0.utf8)
    }

  init(seed: UInt64) { generator = SplitMix(state: seed) }

  mutating func next() -> [UInt8] {
    var bytes = Self.seeds[below(Self.seeds.count)]
    for _ in 0..<below(4) {
      let at = below(bytes.count)
      switch below(5) {
      case 0: bytes[at] = UInt8(below(256))
      case 1: bytes.remove(at: at)
      case 2, 3: bytes.insert(contentsOf: Self.telling[below(Self.telling.count)], at: at)
      default: bytes.append(contentsOf: bytes[at...])
      }
    }
    return bytes
  }

  /// Up to six ascending places to cut `count` bytes at.
  mutating func cuts(_ count: Int) -> [Int] {
    var cuts: [Int] = []
    for _ in 0..<below(7) { cuts.append(below(count + 1)) }
    return cuts.sorted()
  }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
}

struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
