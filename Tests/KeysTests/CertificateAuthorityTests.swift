import Foundation
import Keys
import Testing

@Suite struct CertificateAuthorityTests {
  /// Writes an authority and what it issued for `names`.
  private func issue(_ names: [String], into openssl: OpenSsl) throws {
    let authority = try CertificateAuthority.make(name: "Sandbox authority")
    let issued = try authority.issue(names: names)
    _ = try openssl.file("ca.pem", authority.certificatePem)
    _ = try openssl.file("ca.key", authority.privateKeyPem)
    _ = try openssl.file("server.pem", issued.certificatePem)
    _ = try openssl.file("server.key", issued.privateKeyPem)
  }

  @Test(arguments: [
    ("-verify_hostname", "localhost", true), ("-verify_hostname", "api.push.example", true),
    ("-verify_hostname", "other.example", false), ("-verify_hostname", "push.example", false),
    ("-verify_ip", "127.0.0.1", true), ("-verify_ip", "::1", true), ("-verify_ip", "127.0.0.2", false),
  ])
  func `openssl takes the certificate for the names that it was issued for and no other`(
    check: String, name: String, taken: Bool
  ) throws {
    let openssl = try OpenSsl()
    try issue(["localhost", "api.push.example", "127.0.0.1", "::1"], into: openssl)
    let run = try openssl.run(
      "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "ca.pem", check, name, "server.pem")
    #expect(run.fine == taken, "\(run.output)")
  }

  @Test func `The authority is one and the server is none`() throws {
    let openssl = try OpenSsl()
    try issue(["localhost", "10.0.0.1"], into: openssl)
    let authority = try openssl.run("x509", "-in", "ca.pem", "-noout", "-text").output
    for wanted in [
      "Version: 3", "CA:TRUE", "Certificate Sign, CRL Sign", "CN = Sandbox authority", "ecdsa-with-SHA256",
      "ASN1 OID: prime256v1", "Subject Key Identifier",
    ] {
      #expect(authority.contains(wanted), "\(wanted)")
    }
    let server = try openssl.run("x509", "-in", "server.pem", "-noout", "-text").output
    for wanted in [
      "Version: 3", "CA:FALSE", "Digital Signature", "TLS Web Server Authentication", "DNS:localhost",
      "IP Address:10.0.0.1", "Issuer: CN = Sandbox authority", "Authority Key Identifier",
    ] {
      #expect(server.contains(wanted), "\(wanted)")
    }
  }

  @Test func `The keys are those of the certificates`() throws {
    let openssl = try OpenSsl()
    try issue(["localhost"], into: openssl)
    for name in ["ca", "server"] {
      let inside = try openssl.run("x509", "-in", "\(name).pem", "-noout", "-pubkey").output
      #expect(try openssl.run("pkey", "-in", "\(name).key", "-pubout").output == inside)
    }
  }

  @Test func `A certificate holds 825 days from an hour ago`() throws {
    let openssl = try OpenSsl()
    try issue(["localhost"], into: openssl)
    let day = 86_400
    for name in ["ca.pem", "server.pem"] {
      #expect(try openssl.run("x509", "-in", name, "-noout", "-checkend", "\(824 * day)").fine)
      #expect(try !openssl.run("x509", "-in", name, "-noout", "-checkend", "\(825 * day)").fine)
    }
  }

  @Test func `Another authority's certificate is refused`() throws {
    let openssl = try OpenSsl()
    try issue(["localhost"], into: openssl)
    _ = try openssl.file("other.pem", try CertificateAuthority.make(name: "Sandbox authority").certificatePem)
    #expect(try !openssl.run("verify", "-CAfile", "other.pem", "server.pem").fine)
  }

  @Test func `Serials differ`() throws {
    let openssl = try OpenSsl()
    let authority = try CertificateAuthority.make(name: "Sandbox authority")
    var serials: Set<String> = []
    for round in 0..<5 {
      _ = try openssl.file("\(round).pem", try authority.issue(names: ["localhost"]).certificatePem)
      serials.insert(try openssl.run("x509", "-in", "\(round).pem", "-noout", "-serial").output)
    }
    #expect(serials.count == 5)
  }

  @Test func `A name that is too long for a common name is still an alternative name`() throws {
    let openssl = try OpenSsl()
    let long = String(repeating: "a", count: 60) + ".push.example"
    try issue([long], into: openssl)
    #expect(try openssl.run("verify", "-CAfile", "ca.pem", "-verify_hostname", long, "server.pem").fine)
  }

  @Test func `Without a right name nothing is issued`() throws {
    let authority = try CertificateAuthority.make(name: "Sandbox authority")
    for names in [[], [""], ["a b"], ["caf\u{e9}"]] {
      #expect(throws: KeyFault.library) { try authority.issue(names: names) }
    }
    #expect(throws: KeyFault.library) { try CertificateAuthority.make(name: String(repeating: "a", count: 65)) }
  }

  @Test func `An authority that was kept issues as before`() throws {
    let openssl = try OpenSsl()
    let first = try CertificateAuthority.make(name: "Sandbox authority")
    let kept = try CertificateAuthority(certificatePem: first.certificatePem, privateKeyPem: first.privateKeyPem)
    #expect(kept.certificatePem == first.certificatePem)
    _ = try openssl.file("ca.pem", first.certificatePem)
    _ = try openssl.file("server.pem", try kept.issue(names: ["localhost"]).certificatePem)
    #expect(try openssl.run("verify", "-CAfile", "ca.pem", "server.pem").fine)
  }

  @Test func `A certificate and another's key are no authority`() throws {
    let one = try CertificateAuthority.make(name: "Sandbox authority")
    let other = try CertificateAuthority.make(name: "Sandbox authority")
    #expect(throws: KeyFault.unfit) {
      try CertificateAuthority(certificatePem: one.certificatePem, privateKeyPem: other.privateKeyPem)
    }
    #expect(throws: KeyFault.otherBlock) {
      try CertificateAuthority(certificatePem: one.privateKeyPem, privateKeyPem: one.privateKeyPem)
    }
  }
}
