internal import COpenSSL

/// An ECDSA signature on P-256 in its two forms: DER, as OpenSSL has it, and r beside s, as web tokens have it.
enum EcdsaSignature {
  private static let half = 32

  /// 64 bytes of r and s; nil if `der` is no signature or too large for the curve.
  static func raw(der: [UInt8]) -> [UInt8]? {
    let signature = der.withUnsafeBufferPointer { bytes in
      var cursor = bytes.baseAddress
      return d2i_ECDSA_SIG(nil, &cursor, bytes.count)
    }
    guard let signature else { return nil }
    defer { ECDSA_SIG_free(signature) }
    var raw = [UInt8](repeating: 0, count: 2 * half)
    let done = raw.withUnsafeMutableBufferPointer { output -> Bool in
      guard let start = output.baseAddress else { return false }
      return BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, CInt(half)) == half
        && BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + half, CInt(half)) == half
    }
    return done ? raw : nil
  }

  /// DER of 64 bytes of r and s; nil for another length.
  static func der(raw: [UInt8]) -> [UInt8]? {
    guard raw.count == 2 * half, let signature = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(signature) }
    guard let r = BN_bin2bn(Array(raw.prefix(half)), CInt(half), nil) else { return nil }
    guard let s = BN_bin2bn(Array(raw.suffix(half)), CInt(half), nil) else {
      BN_free(r)
      return nil
    }
    // Takes r and s over; it fails for nil alone.
    _ = ECDSA_SIG_set0(signature, r, s)
    let count = i2d_ECDSA_SIG(signature, nil)
    guard count > 0 else { return nil }
    var der = [UInt8](repeating: 0, count: Int(count))
    let written = der.withUnsafeMutableBufferPointer { output in
      var cursor = output.baseAddress
      return i2d_ECDSA_SIG(signature, &cursor)
    }
    return written == count ? der : nil
  }
}
