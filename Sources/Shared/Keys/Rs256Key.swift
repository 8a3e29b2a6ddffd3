internal import COpenSSL

/// An RSA private key of 2,048 bits or more that signs web tokens with RS256 (RFC 7518, 3.3): a service account's.
package struct Rs256Key: Sendable {
  let key: EvpKey

  /// Reads a key in any form that `PemText` takes, and signs with it once.
  package init(pem: Secret) throws(KeyFault) { try self.init(pem: pem.reveal()) }

  /// Reads a key in any form that `PemText` takes, and signs with it once.
  package init(pem: String) throws(KeyFault) {
    key = try EvpKey.privateKey(in: pem)
    guard key.isRsa2048 else { throw .wrongKey(found: key.kind, due: "an RSA key of 2048 bits or more") }
    try key.proveFit()
  }

  private init(_ key: EvpKey) { self.key = key }

  /// A new key, for the sandbox and for tests. Takes a large part of a second.
  package static func generate(bits: UInt32 = 2_048) throws(KeyFault) -> Rs256Key {
    guard bits >= 2_048, let pointer = ossl_rsa_gen(bits) else { throw .library }
    return Rs256Key(EvpKey(owning: pointer))
  }

  /// The PKCS#1 v1.5 signature over `bytes`, as long as the key. Takes about 800 us: not for the event loop.
  package func sign(_ bytes: [UInt8]) throws(KeyFault) -> [UInt8] { try key.sign(bytes) }

  /// PKCS#8 PEM.
  package func privateKeyPem() -> String { key.privateKeyPem() }

  /// SubjectPublicKeyInfo PEM.
  package func publicKeyPem() -> String { key.publicKeyPem() }
}

/// The public half of an `Rs256Key`.
package struct Rs256Verifier: Sendable {
  private let key: EvpKey

  /// Reads SubjectPublicKeyInfo PEM.
  package init(pem: String) throws(KeyFault) {
    key = try EvpKey.publicKey(in: pem)
    guard key.isRsa2048 else { throw .wrongKey(found: key.kind, due: "an RSA key of 2048 bits or more") }
  }

  /// The public half of `key`.
  package init(_ key: Rs256Key) { self.key = key.key }

  /// Whether `signature` is this key's over `bytes`.
  package func verify(signature: [UInt8], of bytes: [UInt8]) -> Bool { key.verify(signature, of: bytes) }
}
