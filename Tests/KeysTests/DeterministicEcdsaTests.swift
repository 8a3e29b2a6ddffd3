import Contract
import Testing

@testable import Keys

@Suite struct DeterministicEcdsaTests {
  /// RFC 6979, A.2.5: the curve's example key, as PKCS#8.
  private static let pem = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgya+p2EW6dRZrXCFX
    Z7HWk05Qw9s26JsSe4piKxIPZyGhRANCAARg/tS6JVqdMclh63TGNW1owEm4kjth
    +mzmaWIuYPKftnkD/hAIuLyZpBrp6VYovGTy8bIMLX6fUXejwpTURiKZ
    -----END PRIVATE KEY-----
    """

  @Test(arguments: [
    (
      "sample", "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
      "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
    ),
    (
      "test", "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
      "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"
    ),
  ])
  func `Signatures are those of the RFC`(of text: String, _ r: String, _ s: String) throws {
    let key = try Es256Key(pem: Self.pem)
    #expect(try key.sign(Array(text.utf8)) == Hex.decode(r + s))
  }

  @Test func `Any key signs what its verifier takes, twice the same`() throws {
    for number in 0..<200 {
      let key = try Es256Key.generate()
      let text = Array("text \(number)".utf8)
      let signature = try key.sign(text)
      #expect(Es256Verifier(key).verify(signature: signature, of: text))
      #expect(try key.sign(text) == signature)
    }
  }
}
