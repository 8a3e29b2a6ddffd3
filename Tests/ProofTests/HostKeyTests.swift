import Contract
import Proof
import Testing

@Suite struct HostKeyTests {
  /// Every encoding below 2^255 of a point of low order, on the curve or its twist (RFC 7748, section 7, and what is
  /// congruent to those modulo p).
  static let lowOrder = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  ]

  @Test(arguments: lowOrder)
  func `A key of low order is refused, with the high bit and without`(hex: String) throws {
    var bytes = try #require(Hex.decode(hex))
    #expect(HostKey(bytes: bytes) == nil)
    #expect(HostKey(base64: Base64.encode(bytes)) == nil)
    bytes[31] |= 0x80
    #expect(HostKey(bytes: bytes) == nil)
    #expect(HostKey(base64: Base64.encode(bytes)) == nil)
  }

  @Test func `The neighbours of the low-order points are taken`() throws {
    for hex in [
      "0200000000000000000000000000000000000000000000000000000000000000",
      "0900000000000000000000000000000000000000000000000000000000000000",
      "ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "efffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ] {
      #expect(HostKey(bytes: try #require(Hex.decode(hex))) != nil)
    }
  }

  @Test(arguments: [
    "", "4X5oWN6QnaU87fk5PaF755vmHHWq1WW6UUxZ5az8K20", "4X5oWN6QnaU87fk5PaF755vmHHWq1WW6UUxZ5az8K21=",
    "4X5oWN6QnaU87fk5PaF755vmHHWq1WW6UUxZ5az8K20=\n", "4X5oWN6QnaU87fk5PaF755vmHHWq1WW6UUxZ5az8K22=",
    "4X5oWN6QnaU87fk5PaF755vmHHWq1WW6UUxZ5az8Kw==", "4X5oWN6QnaU87fk5PaF755vmHHWq1WW6UUxZ5az8K218",
    "4X5oWN6QnaU87fk5PaF755vmHHWq1WW6UUxZ5az8K20A",
  ])
  func `A key that is not 32 bytes of canonical base64 is refused`(text: String) {
    #expect(HostKey(base64: text) == nil)
  }

  @Test func `A key keeps its bytes and names its host`() throws {
    let key = try #require(HostKey(base64: "4X5oWN6QnaU87fk5PaF755vmHHWq1WW6UUxZ5az8K20="))
    #expect(key.base64 == "4X5oWN6QnaU87fk5PaF755vmHHWq1WW6UUxZ5az8K20=")
    #expect(key.fingerprint.text == "xxmAkf-3aGje7yDH")
  }
}
