import Contract
import Foundation
import Testing

@Suite struct EncodingTests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `Base64 gives RFC 4648's own examples`(plain: String, text: String) {
    #expect(Base64.encode(Array(plain.utf8)) == text)
    #expect(Base64.decode(text) == Array(plain.utf8))
    let unpadded = text.replacingOccurrences(of: "=", with: "")
    #expect(Base64Url.encode(Array(plain.utf8)) == unpadded)
    #expect(Base64Url.decode(unpadded) == Array(plain.utf8))
  }

  @Test(arguments: [
    "Zg", "Zg=", "Zg===", "Zg====", "=", "==", "====", "Z===", "Zh==", "Zm9=", "Zm8=\n", " Zm8=", "Zm 8", "Zm8=Zm8=",
    "Zg==Zg==", "Z=g=", "=Zg=", "Zm9v=", "Zm9vZ", "-_-_", "Zm9*", "Zm9\0", "Zmé", "Ｚｍ９ｖ", "Zm8\u{301}",
  ])
  func `Base64 that is not canonical is refused`(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test(arguments: ["Zg==", "Zh", "Zm9", "Z", "Zm9vZ", "+/+/", "Zm8=", "Zm 8", "Zg\n"])
  func `Base64url that is not canonical or is padded is refused`(text: String) {
    #expect(Base64Url.decode(text) == nil)
  }

  @Test func `The alphabets differ in their last two symbols alone`() {
    #expect(Base64.encode([0xfb, 0xff, 0xbf]) == "+/+/")
    #expect(Base64Url.encode([0xfb, 0xff, 0xbf]) == "-_-_")
    #expect(Base64.decode("+/+/") == [0xfb, 0xff, 0xbf])
    #expect(Base64Url.decode("-_-_") == [0xfb, 0xff, 0xbf])
  }

  @Test func `Bytes of every length and value agree with Foundation`() {
    for count in 0..<300 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
      let text = Data(bytes).base64EncodedString()
      #expect(Base64.encode(bytes) == text)
      #expect(Base64.decode(text) == bytes)
      #expect(Base64Url.decode(Base64Url.encode(bytes)) == bytes)
      #expect(Hex.encode(bytes) == bytes.map { String(format: "%02x", $0) }.joined())
      #expect(Hex.decode(Hex.encode(bytes)) == bytes)
    }
  }

  @Test func `Hex of either case is read`() {
    #expect(Hex.decode("00fFaB") == [0, 255, 171])
  }

  @Test(arguments: ["0", "000", "0g", "0x", " 00", "0é", "００"])
  func `Hex with an odd length or another symbol is refused`(text: String) {
    #expect(Hex.decode(text) == nil)
  }

  @Test(arguments: ["xxmAkf-3aGje7yDH", "________________", "0123456789abcdef"])
  func `A fingerprint is 16 characters of base64url`(text: String) throws {
    let fingerprint = try #require(HostFingerprint(text))
    #expect(fingerprint.text == text)
    #expect("\(fingerprint)" == text.prefix(4) + "…")
    #expect(String(reflecting: [fingerprint]).contains(text) == false)
  }

  @Test(arguments: [
    "", "xxmAkf-3aGje7yD", "xxmAkf-3aGje7yDHH", "xxmAkf+3aGje7yDH", "xxmAkf-3aGje7y==", "xxmAkf-3aGje7yé",
  ])
  func `Anything else is no fingerprint`(text: String) {
    #expect(HostFingerprint(text) == nil)
  }
}
