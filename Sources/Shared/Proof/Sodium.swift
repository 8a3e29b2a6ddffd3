internal import CSodium

/// The parts of libsodium that the proof needs, with arrays in and out.
enum Sodium {
  /// Start-up of the library, once a process; every function below goes through it.
  static let started: Void = {
    precondition(sodium_init() >= 0, "libsodium does not start")
  }()

  /// SHA-256 of `bytes`, 32 bytes.
  static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    _ = started
    return array(Int(crypto_hash_sha256_BYTES)) { crypto_hash_sha256($0, bytes, UInt64(bytes.count)) }
  }

  /// HMAC-SHA256 of `bytes` under a key of 32 bytes, 32 bytes.
  static func hmacSha256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    _ = started
    precondition(key.count == Int(crypto_auth_hmacsha256_KEYBYTES))
    return array(Int(crypto_auth_hmacsha256_BYTES)) { crypto_auth_hmacsha256($0, bytes, UInt64(bytes.count), key) }
  }

  /// `count` bytes that nobody can guess.
  static func random(_ count: Int) -> [UInt8] {
    _ = started
    return array(count) {
      randombytes_buf($0, count)
      return 0
    }
  }

  /// Comparison in constant time; lengths are not secret.
  static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && sodium_memcmp(one, other, one.count) == 0
  }

  /// The X25519 public key of a 32-byte secret key.
  static func publicKey(of secretKey: [UInt8]) -> [UInt8] {
    _ = started
    precondition(secretKey.count == HostKey.length)
    return array(HostKey.length) { crypto_scalarmult_base($0, secretKey) }
  }

  /// Whether a 32-byte X25519 public key is of low order: any secret key makes the shared secret zero with it.
  static func isLowOrder(_ publicKey: [UInt8]) -> Bool {
    _ = started
    precondition(publicKey.count == HostKey.length)
    // X25519 clamps the scalar to a multiple of the cofactor, so that every point of low order gives zero,
    // which libsodium reports. This holds for each encoding of such a point, whatever a list might forget.
    let scalar = [UInt8](repeating: 1, count: HostKey.length)
    var product = [UInt8](repeating: 0, count: HostKey.length)
    return crypto_scalarmult(&product, scalar, publicKey) != 0
  }

  /// crypto_box: `plaintext` for `publicKey` from `secretKey`; nil only for a public key of low order.
  static func seal(
    _ plaintext: [UInt8], nonce: [UInt8], to publicKey: [UInt8], from secretKey: [UInt8]
  ) -> [UInt8]? {
    _ = started
    precondition(publicKey.count == HostKey.length && secretKey.count == HostKey.length)
    precondition(nonce.count == Int(crypto_box_NONCEBYTES))
    var ciphertext = [UInt8](repeating: 0, count: plaintext.count + Int(crypto_box_MACBYTES))
    let done = crypto_box_easy(&ciphertext, plaintext, UInt64(plaintext.count), nonce, publicKey, secretKey)
    return done == 0 ? ciphertext : nil
  }

  /// Opens a crypto_box; nil when it was not sealed with this nonce and these keys.
  static func open(
    _ ciphertext: [UInt8], nonce: [UInt8], from publicKey: [UInt8], to secretKey: [UInt8]
  ) -> [UInt8]? {
    _ = started
    precondition(publicKey.count == HostKey.length && secretKey.count == HostKey.length)
    precondition(nonce.count == Int(crypto_box_NONCEBYTES))
    guard ciphertext.count >= Int(crypto_box_MACBYTES) else { return nil }
    var plaintext = [UInt8](repeating: 0, count: ciphertext.count - Int(crypto_box_MACBYTES))
    let done = crypto_box_open_easy(&plaintext, ciphertext, UInt64(ciphertext.count), nonce, publicKey, secretKey)
    return done == 0 ? plaintext : nil
  }

  private static func array(_ count: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> CInt) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    // These calls have no failure of their own once the lengths are right.
    precondition(fill(&bytes) == 0, "libsodium failed")
    return bytes
  }
}
