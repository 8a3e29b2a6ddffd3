internal import COpenSSL

/// Comparison whose time says nothing about where two values differ.
package enum ConstantTime {
  /// Whether both hold the same bytes. Lengths are not secret.
  package static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
  }
}
