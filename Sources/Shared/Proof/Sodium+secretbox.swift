internal import CSodium

extension Sodium {
  /// HMAC-SHA256 of `bytes` under a key of any length, 32 bytes.
  static func hmacSha256(_ bytes: [UInt8], anyKey key: [UInt8]) -> [UInt8] {
    _ = started
    var state = crypto_auth_hmacsha256_state()
    var digest = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
    crypto_auth_hmacsha256_init(&state, key, key.count)
    crypto_auth_hmacsha256_update(&state, bytes, UInt64(bytes.count))
    crypto_auth_hmacsha256_final(&state, &digest)
    sodium_memzero(&state, MemoryLayout<crypto_auth_hmacsha256_state>.size)
    return digest
  }

  /// crypto_secretbox: `plaintext` under a key of 32 and a nonce of 24 bytes.
  static func seal(_ plaintext: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8] {
    _ = started
    precondition(key.count == Int(crypto_secretbox_KEYBYTES) && nonce.count == Int(crypto_secretbox_NONCEBYTES))
    var box = [UInt8](repeating: 0, count: plaintext.count + Int(crypto_secretbox_MACBYTES))
    let done = crypto_secretbox_easy(&box, plaintext, UInt64(plaintext.count), nonce, key)
    precondition(done == 0, "libsodium failed")
    return box
  }
}
