internal import COpenSSL

/// A P-256 private key that signs web tokens with ES256 (RFC 7518, 3.4): what Apple calls a .p8.
package struct Es256Key: Sendable {
  let key: EvpKey

  /// Reads a key in any form that `PemText` takes, and signs with it once.
  package init(pem: Secret) throws(KeyFault) { try self.init(pem: pem.reveal()) }

  /// Reads a key in any form that `PemText` takes, and signs with it once.
  package init(pem: String) throws(KeyFault) {
    key = try EvpKey.privateKey(in: pem)
    guard key.isP256 else { throw .wrongKey(found: key.kind, due: "an EC key on P-256 (APNs .p8)") }
    try key.proveFit()
  }

  private init(_ key: EvpKey) { self.key = key }

  /// A new key, for the sandbox and for tests.
  package static func generate() throws(KeyFault) -> Es256Key {
    guard let pointer = ossl_p256_gen() else { throw .library }
    return Es256Key(EvpKey(owning: pointer))
  }

  /// The signature over `bytes`: r and s, 32 bytes each, highest byte first. The same bytes have the same signature
  /// (RFC 6979). Takes about 300 us.
  package func sign(_ bytes: [UInt8]) throws(KeyFault) -> [UInt8] {
    // A wrong signature with a known nonce would give the key away, so it is checked before it leaves.
    guard let raw = DeterministicEcdsa.sign(bytes, with: key), let der = EcdsaSignature.der(raw: raw),
      key.verify(der, of: bytes)
    else { throw .unfit }
    return raw
  }

  /// PKCS#8 PEM.
  package func privateKeyPem() -> String { key.privateKeyPem() }

  /// SubjectPublicKeyInfo PEM.
  package func publicKeyPem() -> String { key.publicKeyPem() }
}

/// The public half of an `Es256Key`.
package struct Es256Verifier: Sendable {
  private let key: EvpKey

  /// Reads SubjectPublicKeyInfo PEM.
  package init(pem: String) throws(KeyFault) {
    key = try EvpKey.publicKey(in: pem)
    guard key.isP256 else { throw .wrongKey(found: key.kind, due: "an EC key on P-256") }
  }

  /// The public half of `key`.
  package init(_ key: Es256Key) { self.key = key.key }

  /// Whether `signature`, r and s of 32 bytes each, is this key's over `bytes`. Takes about 90 us.
  package func verify(signature: [UInt8], of bytes: [UInt8]) -> Bool {
    guard let der = EcdsaSignature.der(raw: signature) else { return false }
    return key.verify(der, of: bytes)
  }
}
