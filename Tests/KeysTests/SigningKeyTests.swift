import Contract
import Foundation
import Testing

@testable import Keys

@Suite struct SigningKeyTests {
  private let text = Array("header.claims".utf8)

  @Test func `What an ES256 key signs, its verifier and openssl take`() throws {
    let openssl = try OpenSsl()
    let key = try Es256Key.generate()
    let verifier = try Es256Verifier(pem: key.publicKeyPem())
    for round in 0..<20 {
      let signature = try key.sign(text)
      #expect(signature.count == 64)
      #expect(verifier.verify(signature: signature, of: text))
      #expect(Es256Verifier(key).verify(signature: signature, of: text))
      guard round == 0 else { continue }
      _ = try openssl.file("public.pem", key.publicKeyPem())
      _ = try openssl.file("signature", try #require(EcdsaSignature.der(raw: signature)))
      _ = try openssl.file("text", text)
      let run = try openssl.run("dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "text")
      #expect(run.fine && run.output.contains("Verified OK"))
    }
  }

  @Test func `An ES256 key of openssl's making signs`() throws {
    let openssl = try OpenSsl()
    try openssl.run("ecparam", "-name", "prime256v1", "-genkey", "-out", "sec1.pem")
    try openssl.run("pkcs8", "-topk8", "-nocrypt", "-in", "sec1.pem", "-out", "key.p8")
    try openssl.run("ec", "-in", "sec1.pem", "-pubout", "-out", "public.pem")
    let verifier = try Es256Verifier(pem: openssl.text("public.pem"))
    // sec1.pem begins with a block of parameters.
    for file in ["sec1.pem", "key.p8"] {
      let key = try Es256Key(pem: openssl.text(file))
      #expect(verifier.verify(signature: try key.sign(text), of: text))
      #expect(try key.publicKeyPem() == openssl.text("public.pem"))
      #expect(try key.privateKeyPem() == openssl.text("key.p8"))
    }
  }

  @Test func `A changed signature or text is refused`() throws {
    let key = try Es256Key.generate()
    let verifier = Es256Verifier(key)
    let signature = try key.sign(text)
    for place in signature.indices {
      var wrong = signature
      wrong[place] ^= 1
      #expect(!verifier.verify(signature: wrong, of: text))
    }
    #expect(!verifier.verify(signature: signature, of: text + [0]))
    #expect(!verifier.verify(signature: [], of: text))
    #expect(!verifier.verify(signature: signature + [0], of: text))
    #expect(!verifier.verify(signature: [UInt8](repeating: 0, count: 64), of: text))
    #expect(!verifier.verify(signature: try #require(EcdsaSignature.der(raw: signature)), of: text))
    #expect(!Es256Verifier(try Es256Key.generate()).verify(signature: signature, of: text))
  }

  @Test func `Short halves of a signature keep their leading zeros`() throws {
    // r = 1, s = 2: SEQUENCE { INTEGER 1, INTEGER 2 }
    let raw = try #require(EcdsaSignature.raw(der: [0x30, 6, 2, 1, 1, 2, 1, 2]))
    #expect(raw == [UInt8](repeating: 0, count: 31) + [1] + [UInt8](repeating: 0, count: 31) + [2])
    #expect(EcdsaSignature.der(raw: raw) == [0x30, 6, 2, 1, 1, 2, 1, 2])
    let wide: [UInt8] = [0x30, 38, 2, 33, 1] + [UInt8](repeating: 0, count: 32) + [2, 1, 2]
    #expect(EcdsaSignature.raw(der: wide) == nil)
    #expect(EcdsaSignature.raw(der: [1, 2, 3]) == nil)
  }

  @Test func `What an RS256 key signs, its verifier and openssl take`() throws {
    let openssl = try OpenSsl()
    let key = try Rs256Key.generate()
    let again = try Rs256Key(pem: Secret(key.privateKeyPem()))
    let signature = try again.sign(text)
    #expect(signature.count == 256)
    let verifier = try Rs256Verifier(pem: key.publicKeyPem())
    #expect(verifier.verify(signature: signature, of: text))
    #expect(Rs256Verifier(key).verify(signature: signature, of: text))
    #expect(!verifier.verify(signature: signature, of: text + [0]))
    #expect(!verifier.verify(signature: signature.reversed(), of: text))
    #expect(!verifier.verify(signature: [], of: text))
    _ = try openssl.file("public.pem", key.publicKeyPem())
    _ = try openssl.file("signature", signature)
    _ = try openssl.file("text", text)
    let run = try openssl.run("dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "text")
    #expect(run.fine && run.output.contains("Verified OK"))
  }

  @Test func `An RSA key of openssl's making signs, in PKCS#8 and in PKCS#1`() throws {
    let openssl = try OpenSsl()
    try openssl.run("genrsa", "-out", "pkcs8.pem", "2048")
    try openssl.run("rsa", "-in", "pkcs8.pem", "-traditional", "-out", "pkcs1.pem")
    for file in ["pkcs8.pem", "pkcs1.pem"] {
      #expect(try openssl.text(file).contains(file == "pkcs1.pem" ? "BEGIN RSA PRIVATE" : "BEGIN PRIVATE"))
      #expect(try Rs256Key(pem: openssl.text(file)).privateKeyPem() == openssl.text("pkcs8.pem"))
    }
  }

  @Test func `A key of another kind than is due is refused by its name`() throws {
    let openssl = try OpenSsl()
    try openssl.run("genrsa", "-out", "rsa.pem", "2048")
    try openssl.run("genrsa", "-out", "small.pem", "1024")
    try openssl.run("genpkey", "-algorithm", "ed25519", "-out", "ed.pem")
    for curve in ["secp384r1", "secp256k1"] {
      try openssl.run("ecparam", "-name", curve, "-genkey", "-noout", "-out", "\(curve).pem")
    }
    for (file, name) in [
      ("rsa.pem", "an RSA key of 2048 bits"), ("ed.pem", "an Ed25519 key"),
      ("secp384r1.pem", "an EC key on secp384r1"), ("secp256k1.pem", "an EC key on secp256k1"),
    ] {
      #expect(throws: KeyFault.wrongKey(found: name, due: "an EC key on P-256 (APNs .p8)")) {
        try Es256Key(pem: openssl.text(file))
      }
    }
    for (file, name) in [("small.pem", "an RSA key of 1024 bits"), ("ed.pem", "an Ed25519 key")] {
      #expect(throws: KeyFault.wrongKey(found: name, due: "an RSA key of 2048 bits or more")) {
        try Rs256Key(pem: openssl.text(file))
      }
    }
    let ours = try Es256Key.generate()
    #expect(throws: KeyFault.wrongKey(found: "an EC key on prime256v1", due: "an RSA key of 2048 bits or more")) {
      try Rs256Key(pem: ours.privateKeyPem())
    }
    #expect(throws: KeyFault.wrongKey(found: "an EC key on prime256v1", due: "an RSA key of 2048 bits or more")) {
      try Rs256Verifier(pem: ours.publicKeyPem())
    }
  }

  @Test func `A key whose halves do not belong together is refused at once`() throws {
    let one = try PemText.privateKey(in: Array(Es256Key.generate().privateKeyPem().utf8)).der
    let other = try PemText.privateKey(in: Array(Es256Key.generate().privateKeyPem().utf8)).der
    // The public half fills the last 64 bytes of both.
    let mixed = PemBlock.text(Array(one.dropLast(64) + other.suffix(64)), kind: .pkcs8)
    #expect(throws: KeyFault.unfit) { try Es256Key(pem: mixed) }
    var point = one
    point[point.count - 1] ^= 1
    let offCurve = PemBlock.text(point, kind: .pkcs8)
    #expect(throws: KeyFault.self) { try Es256Key(pem: offCurve) }
  }

  @Test func `A key cut or changed anywhere never becomes another key, and never crashes`() throws {
    let pem = try Es256Key.generate().privateKeyPem()
    let der = try PemText.privateKey(in: Array(pem.utf8)).der
    for count in 0..<der.count {
      #expect(throws: KeyFault.self) { try Es256Key(pem: PemBlock.text(Array(der.prefix(count)), kind: .pkcs8)) }
    }
    #expect(throws: KeyFault.corrupt) { try Es256Key(pem: PemBlock.text(der + [0], kind: .pkcs8)) }
    for count in 0..<pem.utf8.count - 6 {
      #expect(throws: KeyFault.self) { try Es256Key(pem: String(pem.prefix(count))) }
    }
    // A change in the private number gives a key whose halves differ; elsewhere it gives no key.
    for place in der.indices {
      var changed = der
      changed[place] ^= 4
      if let key = try? Es256Key(pem: PemBlock.text(changed, kind: .pkcs8)) {
        #expect(key.publicKeyPem() == (try Es256Key(pem: pem)).publicKeyPem(), "byte \(place)")
      }
    }
  }
}
