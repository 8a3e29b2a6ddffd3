internal import COpenSSL

/// A private certificate authority on P-256, so that a sandbox can speak TLS and a client can check it.
package struct CertificateAuthority: Sendable {
  /// Days that a certificate holds, the most that Apple's clients take.
  package static let validDays = 825

  /// A server's certificate and its key, both PEM.
  package struct Issued: Sendable {
    /// The certificate alone; its issuer is the authority itself, so no chain goes with it.
    package let certificatePem: String
    /// PKCS#8.
    package let privateKeyPem: String
  }

  private let certificate: X509Certificate
  private let key: Es256Key

  /// A new authority whose certificate is signed by itself. `name` is its common name, 1 to 64 characters.
  package static func make(name: String) throws(KeyFault) -> CertificateAuthority {
    let key = try Es256Key.generate()
    let certificate = try X509Certificate(subject: name, publicKey: key.key, days: validDays)
    try certificate.sign(
      by: certificate, key: key.key,
      extensions: [
        (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
        (NID_key_usage, "critical,keyCertSign,cRLSign"),
        (NID_subject_key_identifier, "hash"),
      ])
    return CertificateAuthority(certificate: certificate, key: key)
  }

  /// An authority made before, from what `certificatePem` and `privateKeyPem` gave.
  ///
  /// Throws for a certificate that is not of that key or has run out.
  package init(certificatePem: String, privateKeyPem: String) throws(KeyFault) {
    let certificate = try X509Certificate(pem: certificatePem)
    let key = try Es256Key(pem: privateKeyPem)
    guard certificate.isFit(for: key.key) else { throw .unfit }
    self.init(certificate: certificate, key: key)
  }

  private init(certificate: X509Certificate, key: Es256Key) {
    self.certificate = certificate
    self.key = key
  }

  /// A new key and a server certificate that names it `names`: host names and IPv4 or IPv6 addresses, at least one.
  package func issue(names: [String]) throws(KeyFault) -> Issued {
    let serverKey = try Es256Key.generate()
    // The common name holds 64 characters and nobody reads it: the names that count are the alternative ones.
    let common = names.first { $0.utf8.count <= 64 } ?? "server"
    let server = try X509Certificate(subject: common, publicKey: serverKey.key, days: Self.validDays)
    try server.add(alternativeNames: names)
    try server.sign(
      by: certificate, key: key.key,
      extensions: [
        (NID_basic_constraints, "critical,CA:FALSE"),
        (NID_key_usage, "critical,digitalSignature"),
        (NID_ext_key_usage, "serverAuth"),
        (NID_subject_key_identifier, "hash"),
        (NID_authority_key_identifier, "keyid:always"),
      ])
    return Issued(certificatePem: server.pem(), privateKeyPem: serverKey.privateKeyPem())
  }

  /// The authority's own certificate, for a client's list of roots.
  package var certificatePem: String { certificate.pem() }

  /// The authority's key, PKCS#8 PEM: whoever has it can issue.
  package var privateKeyPem: String { key.privateKeyPem() }
}
