internal import COpenSSL

/// ECDSA on P-256 whose nonce follows from key and text (RFC 6979), so that everyone who holds a key makes the same
/// signature, and the same web token, of the same text. The OpenSSL of Debian 12 offers random nonces alone.
enum DeterministicEcdsa {
  private static let length = 32

  /// r and s, 32 bytes each, over SHA-256 of `bytes`; nil when OpenSSL fails.
  static func sign(_ bytes: [UInt8], with key: EvpKey) -> [UInt8]? {
    defer { ERR_clear_error() }
    guard let curve = Curve(), let secret = Number(), EVP_PKEY_get_bn_param(key.pointer, "priv", &secret.pointer) == 1,
      let digest = Number(Sha256.digest(bytes)), curve.reduce(digest)
    else { return nil }
    var nonces = Nonces(secret: secret.bytes, digest: digest.bytes)
    // One round but for once in 2^32.
    for _ in 0..<8 {
      guard let nonce = Number(nonces.next()) else { return nil }
      nonce.hide()
      guard curve.holds(nonce) else { continue }
      guard let r = curve.point(nonce), let s = curve.answer(nonce, r, digest, secret) else { return nil }
      if !r.isZero && !s.isZero { return r.bytes + s.bytes }
    }
    return nil
  }

  /// The nonces to try, one after another (RFC 6979, 3.2).
  private struct Nonces {
    private var k = [UInt8](repeating: 0, count: length)
    private var v = [UInt8](repeating: 1, count: length)

    init(secret: [UInt8], digest: [UInt8]) {
      step([0] + secret + digest)
      step([1] + secret + digest)
    }

    mutating func next() -> [UInt8] {
      v = HmacSha256.code(v, key: k)
      let nonce = v
      // What the next one would be made of.
      step([0])
      return nonce
    }

    private mutating func step(_ text: [UInt8]) {
      k = HmacSha256.code(v + text, key: k)
      v = HmacSha256.code(v, key: k)
    }
  }

  /// An owner of one BIGNUM.
  private final class Number {
    var pointer: OpaquePointer?

    init?() {
      pointer = BN_secure_new()
      if pointer == nil { return nil }
    }

    init?(_ bytes: [UInt8]) {
      pointer = BN_bin2bn(bytes, CInt(bytes.count), BN_secure_new())
      if pointer == nil { return nil }
    }

    deinit { BN_clear_free(pointer) }

    /// Has OpenSSL take the paths whose time does not tell the value.
    func hide() { BN_set_flags(pointer, BN_FLG_CONSTTIME) }

    var isZero: Bool { BN_is_zero(pointer) == 1 }

    var bytes: [UInt8] {
      [UInt8](unsafeUninitializedCapacity: length) { output, count in
        precondition(BN_bn2binpad(pointer, output.baseAddress, CInt(length)) == length, "larger than the curve")
        count = length
      }
    }
  }

  /// P-256, and arithmetic modulo its order.
  private final class Curve {
    private let group: OpaquePointer
    private let order: OpaquePointer
    private let scratch: OpaquePointer

    init?() {
      guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
      guard let order = EC_GROUP_get0_order(group), let scratch = BN_CTX_secure_new() else {
        EC_GROUP_free(group)
        return nil
      }
      self.group = group
      self.order = order
      self.scratch = scratch
    }

    deinit {
      BN_CTX_free(scratch)
      EC_GROUP_free(group)
    }

    func reduce(_ number: Number) -> Bool { BN_nnmod(number.pointer, number.pointer, order, scratch) == 1 }

    /// Whether a nonce is from 1 to the order less 1.
    func holds(_ nonce: Number) -> Bool { !nonce.isZero && BN_cmp(nonce.pointer, order) < 0 }

    /// r: where on the curve the nonce leads.
    func point(_ nonce: Number) -> Number? {
      guard let point = EC_POINT_new(group) else { return nil }
      defer { EC_POINT_free(point) }
      guard let x = Number(), EC_POINT_mul(group, point, nonce.pointer, nil, nil, scratch) == 1,
        EC_POINT_get_affine_coordinates(group, point, x.pointer, nil, scratch) == 1, reduce(x)
      else { return nil }
      return x
    }

    /// s: (digest + r secret) / nonce.
    func answer(_ nonce: Number, _ r: Number, _ digest: Number, _ secret: Number) -> Number? {
      guard let s = Number(), let inverse = Number(),
        BN_mod_inverse(inverse.pointer, nonce.pointer, order, scratch) != nil,
        BN_mod_mul(s.pointer, r.pointer, secret.pointer, order, scratch) == 1,
        BN_mod_add(s.pointer, s.pointer, digest.pointer, order, scratch) == 1,
        BN_mod_mul(s.pointer, s.pointer, inverse.pointer, order, scratch) == 1
      else { return nil }
      return s
    }
  }
}
