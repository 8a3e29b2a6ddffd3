import Contract
import Keys
import Testing

@Suite struct DigestTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `SHA-256 gives FIPS 180-4's own examples`(text: String, hex: String) {
    #expect(Sha256.hex(text) == hex)
    #expect(Sha256.hex(Array(text.utf8)) == hex)
    #expect(Sha256.digest(text) == Hex.decode(hex))
    #expect(Sha256.digest(Array(text.utf8)).count == Sha256.length)
  }

  @Test(arguments: [
    (
      [UInt8](repeating: 0x0b, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func `HMAC-SHA256 gives RFC 4231's own examples`(key: [UInt8], text: String, hex: String) {
    #expect(Hex.encode(HmacSha256.code(Array(text.utf8), key: key)) == hex)
  }

  @Test func `HMAC-SHA256 takes no key and no bytes`() {
    #expect(
      Hex.encode(HmacSha256.code([], key: []))
        == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test func `Random bytes come in the number asked for and differ`() {
    #expect(SecureRandom.bytes(0) == [])
    #expect(SecureRandom.bytes(32).count == 32)
    #expect(Set((0..<100).map { _ in SecureRandom.bytes(16) }).count == 100)
  }

  @Test func `Constant-time comparison compares all bytes and the length`() {
    #expect(ConstantTime.equal([], []))
    #expect(ConstantTime.equal([1, 2, 3], [1, 2, 3]))
    #expect(!ConstantTime.equal([1, 2, 3], [1, 2, 4]))
    #expect(!ConstantTime.equal([1, 2, 3], [0, 2, 3]))
    #expect(!ConstantTime.equal([1, 2, 3], [1, 2]))
  }

  @Test func `A secret prints as a mask however it is printed`() {
    struct Holder { let key = Secret("hunter2") }
    let holder = Holder()
    var dumped = ""
    dump(holder, to: &dumped)
    let texts = [
      "\(holder.key)", "\(holder)", String(describing: holder), String(reflecting: holder),
      String(reflecting: holder.key),
      "\([holder.key])", "\(Optional(holder.key) as Any)", dumped,
      "\(Mirror(reflecting: holder.key).children.map(\.value))",
    ]
    for text in texts {
      #expect(!text.contains("hunter2") && !text.contains("104"))
    }
    #expect(holder.key.reveal() == "hunter2")
    #expect(holder.key == Secret(bytes: Array("hunter2".utf8)))
    #expect(holder.key != Secret("hunter3"))
  }
}
