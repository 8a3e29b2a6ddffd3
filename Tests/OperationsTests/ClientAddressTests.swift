import Testing

@testable import Operations

@Suite struct ClientAddressTests {
  struct Case: Sendable {
    let forwardedFor: [String]
    var realIp: String?
    var trustedHops = 0
    let address: String?
  }

  @Test(arguments: [
    Case(forwardedFor: [], address: nil),
    Case(forwardedFor: [""], address: nil),
    Case(forwardedFor: [" , ,"], address: nil),
    Case(forwardedFor: ["1.1.1.1"], address: "1.1.1.1"),
    Case(forwardedFor: ["9.9.9.9, 1.1.1.1"], address: "1.1.1.1"),
    Case(forwardedFor: ["9.9.9.9,8.8.8.8,\t1.1.1.1 "], address: "1.1.1.1"),
    Case(forwardedFor: ["9.9.9.9", "1.1.1.1"], address: "1.1.1.1"),
    Case(forwardedFor: ["1.1.1.1", ""], address: "1.1.1.1"),
    Case(forwardedFor: ["9.9.9.9, 1.1.1.1, , "], address: "1.1.1.1"),
    // U+0600 takes the comma behind it into its character.
    Case(forwardedFor: ["9.9.9.9\u{600}, 1.1.1.1"], address: "1.1.1.1"),
    Case(forwardedFor: ["9.9.9.9,\u{301}, 1.1.1.1"], address: "1.1.1.1"),
    Case(forwardedFor: ["2001:db8::1"], address: "2001:db8::1"),
    Case(forwardedFor: ["9.9.9.9, 1.1.1.1, 10.0.0.1"], trustedHops: 1, address: "1.1.1.1"),
    Case(forwardedFor: ["9.9.9.9", "1.1.1.1", "10.0.0.1"], trustedHops: 1, address: "1.1.1.1"),
    Case(forwardedFor: ["1.1.1.1,,10.0.0.1"], trustedHops: 1, address: "1.1.1.1"),
    Case(forwardedFor: ["1.1.1.1, 10.0.0.2, 10.0.0.1"], trustedHops: 2, address: "1.1.1.1"),
    // Fewer hops than the depth: the header is not trusted at all.
    Case(forwardedFor: ["9.9.9.9"], trustedHops: 1, address: nil),
    Case(forwardedFor: ["9.9.9.9"], realIp: "1.1.1.1", trustedHops: 1, address: "1.1.1.1"),
    Case(forwardedFor: [","], realIp: " 1.1.1.1 ", address: "1.1.1.1"),
    Case(forwardedFor: [], realIp: "1.1.1.1", trustedHops: 3, address: "1.1.1.1"),
    Case(forwardedFor: [], realIp: "  ", address: nil),
    Case(forwardedFor: ["1.1.1.1"], realIp: "9.9.9.9", address: "1.1.1.1"),
  ])
  func `The end of the header is believed, as deep as there are proxies`(_ example: Case) {
    let address = ClientAddress.resolve(
      forwardedFor: example.forwardedFor, realIp: example.realIp, trustedHops: example.trustedHops)
    #expect(address == example.address)
  }

  @Test func `A key is at most 64 bytes, whatever was sent`() {
    let long = String(repeating: "é", count: 4_000)
    for address in [
      ClientAddress.resolve(forwardedFor: [long], realIp: nil, trustedHops: 0),
      ClientAddress.resolve(forwardedFor: [], realIp: long, trustedHops: 0),
    ] { #expect(address?.utf8.count == 64) }
    // Not cut within a character: what would stand in place of its part is longer.
    let odd = "x" + String(repeating: "€", count: 30)
    let cut = ClientAddress.resolve(forwardedFor: [odd], realIp: nil, trustedHops: 0)
    #expect(cut == "x" + String(repeating: "€", count: 21))
    #expect(cut?.utf8.count == 64)
    #expect(ClientAddress.resolve(forwardedFor: ["x" + odd], realIp: nil, trustedHops: 0)?.utf8.count == 62)
  }
}
