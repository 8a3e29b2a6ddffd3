import Contract
import Foundation
import Testing

@testable import Keys

@Suite struct PemTextTests {
  /// A key for these tests alone, as Apple's .p8 files have it.
  static let pem = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjFba7UVFwbtoXbIp
    LM/1MbShxx7SehhMB9BMbjSKVlyhRANCAAQua8pOXcxOZcz8wjyOxkO/lFvTLNsN
    jJM+8qOARzctV8+iiPVQf2nWV4/8kJvDjcarFgkn2mZLucrH5U0FBu4e
    -----END PRIVATE KEY-----

    """

  typealias Form = (name: String, apply: @Sendable (String) -> String)

  /// What settings, shells, editors and secret stores make of a PEM file (failure cases F69 and F70).
  static let forms: [Form] = [
    ("as it is", { $0 }),
    ("without its last newline", { String($0.dropLast()) }),
    ("CRLF", { $0.replacingOccurrences(of: "\n", with: "\r\n") }),
    ("CR", { $0.replacingOccurrences(of: "\n", with: "\r") }),
    ("literal \\n", { $0.replacingOccurrences(of: "\n", with: "\\n") }),
    ("literal \\r\\n", { $0.replacingOccurrences(of: "\n", with: "\\r\\n") }),
    ("doubled backslash", { $0.replacingOccurrences(of: "\n", with: "\\\\n") }),
    ("backslash doubled twice", { $0.replacingOccurrences(of: "\n", with: "\\\\\\\\n") }),
    ("literal \\n beside real newlines", { $0.replacingOccurrences(of: "\n", with: "\\n\n") }),
    ("a backslash at each line's end", { $0.replacingOccurrences(of: "\n", with: "\\\n") }),
    ("byte order mark", { "\u{feff}" + $0 }),
    ("double quotes", { "\"\($0)\"" }),
    ("single quotes", { "'\($0)'" }),
    ("escaped quotes within quotes", { "\"\\\"\($0.replacingOccurrences(of: "\n", with: "\\n"))\\\"\"" }),
    (
      "JSON string with escaped slashes",
      {
        "\"" + $0.replacingOccurrences(of: "\n", with: "\\n").replacingOccurrences(of: "/", with: "\\/") + "\""
      }
    ),
    ("white space around", { "\n  \t\($0)\n\n  " }),
    ("one line with spaces", { $0.replacingOccurrences(of: "\n", with: " ") }),
    ("one line with tabs", { $0.replacingOccurrences(of: "\n", with: "\t") }),
    ("one line without separators", { $0.replacingOccurrences(of: "\n", with: "") }),
    ("no white space at all", { $0.filter { !$0.isWhitespace } }),
    ("indented as in YAML", { $0.replacingOccurrences(of: "\n", with: "\n    ") }),
    ("empty lines between", { $0.replacingOccurrences(of: "\n", with: "\n\n") }),
    ("another wrap", { wrap($0.replacingOccurrences(of: "\n", with: ""), at: 76, with: "\n") }),
    ("bag attributes before it", { "Bag Attributes\n    friendlyName: key\nKey Attributes: <No Attributes>\n" + $0 }),
  ]

  /// Base64 as people's tools write it.
  static let wraps: [Form] = [
    ("plain", { $0 }),
    ("base64", { Base64.encode(Array($0.utf8)) }),
    ("base64 in lines of 76", { wrap(Base64.encode(Array($0.utf8)), at: 76, with: "\n") + "\n" }),
    ("base64 in lines of 64 with CRLF", { wrap(Base64.encode(Array($0.utf8)), at: 64, with: "\r\n") }),
    ("base64 on one line with spaces", { wrap(Base64.encode(Array($0.utf8)), at: 64, with: " ") }),
    ("base64 with literal \\n in quotes", { "\"" + wrap(Base64.encode(Array($0.utf8)), at: 76, with: "\\n") + "\"" }),
    ("base64url without padding", { Base64Url.encode(Array($0.utf8)) }),
    ("base64 of base64", { Base64.encode(Array(Base64.encode(Array($0.utf8)).utf8)) }),
  ]

  static func wrap(_ text: String, at width: Int, with separator: String) -> String {
    var lines: [Substring] = []
    var rest = text[...]
    while !rest.isEmpty {
      lines.append(rest.prefix(width))
      rest = rest.dropFirst(width)
    }
    return lines.joined(separator: separator)
  }

  @Test(arguments: forms.indices, wraps.indices)
  func `Each form that people paste gives the same key`(form: Int, wrap: Int) throws {
    let pasted = Self.wraps[wrap].apply(Self.forms[form].apply(Self.pem))
    let name = "\(Self.wraps[wrap].name) of \(Self.forms[form].name)"
    #expect(try PemText.normalise(pasted) == Self.pem, "\(name)")
    #expect(try PemText.normalise(bytes: Array(pasted.utf8)) == Self.pem, "\(name)")
  }

  @Test func `A key in any form signs`() throws {
    let made = try Es256Key.generate()
    for form in Self.forms {
      #expect(try Es256Key(pem: form.apply(made.privateKeyPem())).publicKeyPem() == made.publicKeyPem(), "\(form.name)")
    }
  }

  @Test func `What is normal stays as it is`() throws {
    for pem in [try Es256Key.generate().privateKeyPem(), try Rs256Key.generate().privateKeyPem()] {
      #expect(try PemText.normalise(pem) == pem)
    }
  }

  @Test func `A certificate beside the key is passed over`() throws {
    let authority = try CertificateAuthority.make(name: "a")
    #expect(try PemText.normalise(authority.certificatePem + Self.pem) == Self.pem)
    #expect(try PemText.normalise(Self.pem + authority.certificatePem) == Self.pem)
  }

  @Test(arguments: [
    ("", KeyFault.empty), (" \n\"\"\n", .empty), ("\u{feff}", .empty), ("\\n", .empty),
    ("/etc/keys/AuthKey_ABC.p8", .path), ("/run/secrets/apns\n", .path), ("./key", .path), ("../key", .path),
    ("~/key", .path), ("keys/AuthKey_ABC123DEFG.p8", .path), ("\"AuthKey.p8\"", .path), ("file:///key", .path),
    ("C:\\new\\keys\\AuthKey.p8", .path), ("C:/keys/key", .path), ("\\\\server\\share\\key.pem", .path),
    ("server.p12", .path), ("service-account.json", .path), ("$APNS_KEY", .unrecognised), ("@key.p8", .path),
    ("{\"type\":\"service_account\",\"private_key\":\"-----BEGIN PRIVATE KEY-----\\nMIG\\n\"}", .serviceAccount),
    ("{\"a\":1}", .json), ("{}", .json),
    ("hello", .unrecognised), ("ABC123DEFG", .unrecognised), ("some words here", .unrecognised),
    ("deadbeefdeadbeefdeadbeefdeadbeef", .unrecognised), ("AAAA", .unrecognised), ("key=value", .unrecognised),
    ("0\u{fffd}\u{fffd}", .binary), ("0\0\u{1}", .binary),
    ("-----BEGIN PRIVATE KEY-----\nMIGHAgEA", .truncated), ("-----BEGIN PRIVATE KEY", .truncated),
    ("MIGHAgEA\n-----END PRIVATE KEY-----", .truncated), ("-----BEGIN PRIVATE KEY-----\nMIGH\n-----END", .truncated),
    ("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----", .corrupt),
    ("-----BEGIN PRIVATE KEY-----\nMIGHAgEA\n-----END PRIVATE KEY-----", .corrupt),
    ("-----BEGIN PRIVATE KEY-----\nMIGH*gEA\n-----END PRIVATE KEY-----", .corrupt),
    ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGH\n-----END ENCRYPTED PRIVATE KEY-----", .encrypted),
    ("-----BEGIN CERTIFICATE REQUEST-----\nMIGH\n-----END CERTIFICATE REQUEST-----", .otherBlock),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nMIGH\n-----END OPENSSH PRIVATE KEY-----", .otherBlock),
    ("-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----", .otherBlock),
    (String(repeating: "A", count: 65_537), .tooLong),
    (pem + pem, .severalKeys), (pem.replacingOccurrences(of: "\n", with: "n"), .corrupt),
    (pem.replacingOccurrences(of: "MIGH", with: "MIG"), .corrupt),
  ])
  func `Anything else is refused by the name of what it seems to be`(text: String, fault: KeyFault) {
    #expect(throws: fault) { try PemText.normalise(text) }
  }

  @Test func `Files of openssl's making are refused by their name, as such and in base64`() throws {
    let openssl = try OpenSsl()
    let authority = try CertificateAuthority.make(name: "a")
    let key = try openssl.file("key.pem", authority.privateKeyPem)
    let certificate = try openssl.file("certificate.pem", authority.certificatePem)
    try openssl.run("pkcs12", "-export", "-inkey", key, "-in", certificate, "-passout", "pass:x", "-out", "key.p12")
    try openssl.run("pkcs8", "-topk8", "-nocrypt", "-in", key, "-outform", "DER", "-out", "key.der")
    try openssl.run("ec", "-in", key, "-outform", "DER", "-out", "sec1.der")
    try openssl.run("pkcs8", "-topk8", "-in", key, "-passout", "pass:x", "-out", "encrypted.pem")
    try openssl.run("pkcs8", "-topk8", "-in", key, "-passout", "pass:x", "-outform", "DER", "-out", "encrypted.der")
    try openssl.run("ec", "-in", key, "-aes256", "-passout", "pass:x", "-out", "old-encrypted.pem")
    try openssl.run("pkey", "-in", key, "-pubout", "-out", "public.pem")
    try openssl.run("pkey", "-in", key, "-pubout", "-outform", "DER", "-out", "public.der")
    try openssl.run("x509", "-in", certificate, "-outform", "DER", "-out", "certificate.der")
    try openssl.run("rand", "-out", "random", "200")
    for (file, fault) in [
      ("key.p12", KeyFault.pkcs12), ("key.der", .bareDer), ("sec1.der", .bareDer), ("encrypted.pem", .encrypted),
      ("encrypted.der", .encrypted), ("old-encrypted.pem", .encrypted), ("public.pem", .publicKey),
      ("public.der", .publicKey), ("certificate.pem", .certificate), ("certificate.der", .certificate),
      ("random", .binary),
    ] {
      let bytes = try openssl.bytes(file)
      #expect(throws: fault, "\(file)") { try PemText.normalise(bytes: bytes) }
      #expect(throws: fault == .binary ? .unrecognised : fault, "\(file) in base64") {
        try PemText.normalise(Base64.encode(bytes))
      }
      // A file read as text has lost its bytes, but not its name.
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(throws: file.hasSuffix(".pem") ? fault : .binary, "\(file) as text") { try PemText.normalise(text) }
      // What a label promises is not believed.
      guard file.hasSuffix(".der") || file.hasSuffix(".p12"), fault != .bareDer else { continue }
      #expect(throws: fault, "\(file) under another label") {
        try PemText.normalise(PemBlock.text(bytes, kind: .pkcs8))
      }
    }
  }

  @Test func `A service account's file is refused by its name, in base64 and in quotes too`() throws {
    let pem = Self.pem.replacingOccurrences(of: "\n", with: "\\n")
    let file = "{\n  \"type\": \"service_account\",\n  \"private_key\": \"\(pem)\"\n}\n"
    for text in [file, Base64.encode(Array(file.utf8)), "'\(file)'", "\u{feff}\(file)"] {
      #expect(throws: KeyFault.serviceAccount) { try PemText.normalise(text) }
    }
  }

  @Test func `A fault is one line that holds nothing of the key`() throws {
    let body = Self.pem.split(separator: "\n")[1]
    let texts = [
      String(Self.pem.dropLast(40)), Self.pem.replacingOccurrences(of: "KEY-----\nMIG", with: "KEY MIG"),
      Self.pem.replacingOccurrences(of: "MIGH", with: "MIG"), Self.pem + Self.pem, String(body),
    ]
    for text in texts {
      let fault = try #require(throws: KeyFault.self) { try Es256Key(pem: text) }
      #expect(!fault.description.contains("MIG") && !"\(fault)".contains(body.suffix(8)))
      #expect(!fault.description.isEmpty && !fault.description.contains("\n"))
    }
  }

  @Test func `Mangled text never crashes and never gives another key`() {
    var generator = SplitMix(state: 7)
    let pieces = ["\\", "\n", "-----", "-----BEGIN", "-----END", "\"", "=", " ", "{", "0", "\u{feff}", "é", "n", "KEY"]
    for _ in 0..<3_000 {
      var text = Self.pem
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let place = text.index(text.startIndex, offsetBy: Int.random(in: 0..<text.count, using: &generator))
        if Bool.random(using: &generator) {
          text.remove(at: place)
        } else {
          text.insert(contentsOf: pieces[Int.random(in: 0..<pieces.count, using: &generator)], at: place)
        }
      }
      if let key = try? Es256Key(pem: text), let normal = try? PemText.normalise(text) {
        #expect(key.privateKeyPem() == Self.pem && normal.hasSuffix("KEY-----\n"))
      }
    }
  }
}

/// The same numbers in each run (Steele, Lea and Flood, 2014).
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
