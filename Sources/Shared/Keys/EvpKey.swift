internal import COpenSSL

/// The owner of one EVP_PKEY. OpenSSL lets several threads use a key at once as long as none changes it, and none does.
final class EvpKey: Sendable {
  nonisolated(unsafe) let pointer: OpaquePointer

  /// Takes over the caller's reference.
  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { EVP_PKEY_free(pointer) }

  /// The private key of `text` in any form that `PemText` takes.
  static func privateKey(in text: String) throws(KeyFault) -> EvpKey {
    let der = try PemText.privateKey(in: Array(text.utf8)).der
    return try decode(der) { d2i_AutoPrivateKey(nil, &$0, $1) }
  }

  /// The public key of `pem`, a SubjectPublicKeyInfo.
  static func publicKey(in pem: String) throws(KeyFault) -> EvpKey {
    let blocks = try PemText.blocks(in: Array(pem.utf8), unwraps: 0)
    guard let block = blocks.first, block.kind == .publicKey else { throw .otherBlock }
    return try decode(block.der) { d2i_PUBKEY(nil, &$0, $1) }
  }

  private static func decode(
    _ der: [UInt8], with read: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?
  ) throws(KeyFault) -> EvpKey {
    // An error left in the thread's queue would be taken for one of its TLS connections.
    defer { ERR_clear_error() }
    let key = der.withUnsafeBufferPointer { bytes -> EvpKey? in
      var cursor = bytes.baseAddress
      guard let pointer = read(&cursor, bytes.count) else { return nil }
      let key = EvpKey(owning: pointer)
      return cursor == bytes.baseAddress.map { $0 + bytes.count } ? key : nil
    }
    guard let key else { throw .corrupt }
    return key
  }

  /// What kind of key this is, for an operator.
  var kind: String {
    switch EVP_PKEY_get_base_id(pointer) {
    case EVP_PKEY_EC: "an EC key on \(curve)"
    case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: "an RSA key of \(EVP_PKEY_get_bits(pointer)) bits"
    case EVP_PKEY_ED25519: "an Ed25519 key"
    case EVP_PKEY_X25519: "an X25519 key"
    default: "a key of another kind"
    }
  }

  private var curve: String {
    var name = [CChar](repeating: 0, count: 64)
    guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else { return "a curve without a name" }
    let text = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether this is an EC key on P-256.
  var isP256: Bool { EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC && curve.utf8.elementsEqual("prime256v1".utf8) }

  /// Whether this is an RSA key that RFC 7518 allows for RS256.
  var isRsa2048: Bool {
    EVP_PKEY_get_base_id(pointer) == EVP_PKEY_RSA && (2_048...16_384).contains(EVP_PKEY_get_bits(pointer))
  }

  /// The signature over SHA-256 of `bytes` in the form that OpenSSL gives: DER for EC, PKCS#1 v1.5 for RSA.
  func sign(_ bytes: [UInt8]) throws(KeyFault) -> [UInt8] {
    defer { ERR_clear_error() }
    guard let context = EVP_MD_CTX_new() else { throw .library }
    defer { EVP_MD_CTX_free(context) }
    var count = 0
    guard EVP_DigestSignInit(context, nil, Sha256.algorithm, nil, pointer) == 1,
      EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
    else { throw .unfit }
    var signature = [UInt8](repeating: 0, count: count)
    guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else { throw .unfit }
    signature.removeLast(signature.count - count)
    return signature
  }

  /// Whether `signature`, in the form that `sign` gives, is this key's over `bytes`.
  func verify(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    defer { ERR_clear_error() }
    guard let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    return EVP_DigestVerifyInit(context, nil, Sha256.algorithm, nil, pointer) == 1
      && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
  }

  /// Signs once and checks it, so that a key which cannot serve is found at start.
  func proveFit() throws(KeyFault) {
    let text = Array("fit to sign".utf8)
    guard verify(try sign(text), of: text) else { throw .unfit }
  }

  /// PKCS#8 PEM without a passphrase.
  func privateKeyPem() -> String { pem { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) } }

  /// SubjectPublicKeyInfo PEM.
  func publicKeyPem() -> String { pem { PEM_write_bio_PUBKEY($0, pointer) } }
}

/// What `write` puts into a memory BIO. Fails only without memory.
func pem(_ write: (OpaquePointer) -> CInt) -> String {
  guard let bio = BIO_new(BIO_s_mem()) else { preconditionFailure("no memory for PEM") }
  defer { BIO_free(bio) }
  precondition(write(bio) == 1, "OpenSSL cannot write PEM")
  var start: UnsafeMutablePointer<CChar>?
  let count = ossl_bio_data(bio, &start)
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  return String(decoding: bytes, as: UTF8.self)
}
