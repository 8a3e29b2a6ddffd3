import Contract
import Foundation
import Json
import Keys
import Testing

@Suite struct WebTokenTests {
  @Test func `The token for APNs has alg, kid, iss and iat, and is signed with r beside s`() throws {
    let key = try Es256Key.generate()
    let text = try WebToken.es256(keyId: "ABC123DEFG", teamId: "TEAM567890", issuedAt: 1_790_000_000, key: key)
    let parts = text.split(separator: ".").map(String.init)
    #expect(parts.count == 3)
    #expect(try decoded(parts[0]) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
    #expect(try decoded(parts[1]) == #"{"iss":"TEAM567890","iat":1790000000}"#)
    #expect(parts[2].utf8.count == 86)
    let token = try #require(WebToken.parse(text))
    #expect(token.header["kid"]?.string == "ABC123DEFG")
    #expect(token.claims["iss"]?.string == "TEAM567890")
    #expect(token.claims["iat"]?.integer == 1_790_000_000)
    #expect(token.isSigned(by: Es256Verifier(key)))
    #expect(!token.isSigned(by: Es256Verifier(try Es256Key.generate())))
  }

  @Test func `The assertion of a service account has what Google asks for`() throws {
    let key = try Rs256Key.generate()
    let text = try WebToken.rs256(
      keyId: "k1", issuer: "a\"b@c.example", scope: "https://www.googleapis.com/auth/firebase.messaging",
      audience: "https://oauth2.googleapis.com/token", issuedAt: 1_790_000_000, key: key)
    let token = try #require(WebToken.parse(text))
    #expect(token.header == ["alg": .string("RS256"), "typ": .string("JWT"), "kid": .string("k1")])
    #expect(
      token.claims == [
        "iss": .string("a\"b@c.example"), "scope": .string("https://www.googleapis.com/auth/firebase.messaging"),
        "aud": .string("https://oauth2.googleapis.com/token"), "iat": .integer(1_790_000_000),
        "exp": .integer(1_790_003_600),
      ])
    #expect(token.isSigned(by: Rs256Verifier(key)))
    #expect(!token.isSigned(by: Es256Verifier(try Es256Key.generate())))
    let bare = try WebToken.rs256(
      keyId: nil, issuer: "a", scope: "b", audience: "c", issuedAt: 1, lifetime: 60, key: key)
    #expect(try #require(WebToken.parse(bare)).header["kid"] == nil)
    #expect(try #require(WebToken.parse(bare)).claims["exp"]?.integer == 61)
  }

  @Test func `openssl takes the signatures over the text as sent`() throws {
    let openssl = try OpenSsl()
    let key = try Rs256Key.generate()
    let text = try WebToken.rs256(keyId: "k", issuer: "i", scope: "s", audience: "a", issuedAt: 1, key: key)
    let end = try #require(text.lastIndex(of: "."))
    _ = try openssl.file("public.pem", key.publicKeyPem())
    _ = try openssl.file("input", String(text[..<end]))
    _ = try openssl.file("signature", try #require(Base64Url.decode(String(text[text.index(after: end)...]))))
    let run = try openssl.run("dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "input")
    #expect(run.fine, "\(run.output)")
  }

  @Test func `A changed header, claim, signature or algorithm is not signed`() throws {
    let key = try Es256Key.generate()
    let verifier = Es256Verifier(key)
    let parts = try WebToken.es256(keyId: "K", teamId: "T", issuedAt: 1, key: key).split(separator: ".").map(
      String.init)
    let none = Base64Url.encode(Array(#"{"alg":"none","kid":"K"}"#.utf8))
    let later = Base64Url.encode(Array(#"{"iss":"T","iat":2}"#.utf8))
    for text in [
      "\(none).\(parts[1]).\(parts[2])", "\(parts[0]).\(later).\(parts[2])", "\(parts[0]).\(parts[1]).",
      "\(none).\(parts[1]).", "\(parts[0]).\(parts[1]).AAAA",
    ] {
      #expect(try !#require(WebToken.parse(text)).isSigned(by: verifier))
    }
    // Signed by the right key, but under another algorithm's name.
    let signature = try key.sign(Array("\(none).\(parts[1])".utf8))
    let relabelled = try #require(WebToken.parse("\(none).\(parts[1]).\(Base64Url.encode(signature))"))
    #expect(!relabelled.isSigned(by: verifier))
  }

  @Test func `RFC 7515's own ES256 example is read and verified`() throws {
    // Appendix A.3, with the public key of its JWK as SubjectPublicKeyInfo.
    let text =
      "eyJhbGciOiJFUzI1NiJ9"
      + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
      + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    let x = try #require(Base64Url.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
    let y = try #require(Base64Url.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
    let frame = try #require(Hex.decode("3059301306072a8648ce3d020106082a8648ce3d03010703420004"))
    let pem = "-----BEGIN PUBLIC KEY-----\n\(Base64.encode(frame + x + y))\n-----END PUBLIC KEY-----\n"
    let token = try #require(WebToken.parse(text))
    #expect(token.isSigned(by: try Es256Verifier(pem: pem)))
    #expect(token.claims["iss"]?.string == "joe")
  }

  @Test(arguments: [
    "", ".", "..", "e30.e30", "e30.e30.AA.AA", "e30..AA", ".e30.AA", "e30=.e30.AA", "e30.W10.AA", "e30.e30.A",
    "e30 .e30.AA",
    "e30.e30.+/+/", "eyJhIjoxLCJhIjoxfQ.e30.AA", "e30.e30." + String(repeating: "A", count: 8_192),
  ])
  func `What is no token is not read`(text: String) {
    #expect(WebToken.parse(text) == nil)
  }

  private func decoded(_ part: String) throws -> String {
    String(decoding: try #require(Base64Url.decode(part)), as: UTF8.self)
  }
}
