import Testing

@testable import Http

@Suite("Request parser under mutation")
struct ServerParserMutationTests {
  @Test("Whole, cut anywhere and byte by byte, mutated requests get one verdict", arguments: UInt64(1)...4)
  func oneVerdict(seed: UInt64) {
    var mutations = ServerRequestMutations(seed: seed)
    var refused = 0
    let rounds = 4_000
    for _ in 0..<rounds {
      let bytes = mutations.next()
      let whole = verdict(of: bytes, bodyLimit: 64)
      let cut = verdict(of: bytes, cutAt: mutations.cuts(bytes.count), bodyLimit: 64)
      let byByte = verdict(of: bytes, cutAt: Array(0..<bytes.count), bodyLimit: 64)
      #expect(whole == cut && whole == byByte, "\(String(decoding: bytes, as: UTF8.self).debugDescription)")
      if whole.contains("refused") { refused += 1 }
    }
    // The mutations are of use only while a fair part stays well-formed.
    #expect((rounds / 5...rounds * 9 / 10).contains(refused))
  }
}
