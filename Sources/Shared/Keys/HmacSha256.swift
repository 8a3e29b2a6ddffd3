internal import COpenSSL

/// HMAC with SHA-256 (RFC 2104).
package enum HmacSha256 {
  /// The 32-byte code of `bytes` under `key`, which may have any length.
  package static func code(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Sha256.length) { output, count in
      let done = HMAC(
        Sha256.algorithm, key, CInt(key.count), bytes, bytes.count, output.baseAddress, nil)
      precondition(done != nil, "OpenSSL has no HMAC")
      count = Sha256.length
    }
  }
}
