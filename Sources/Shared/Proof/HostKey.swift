package import Contract

/// A host's X25519 public key, 32 bytes, known not to be of low order (rulings 1.5 and 1.10).
package struct HostKey: Hashable, Sendable {
  /// Bytes of a public or secret key.
  package static let length = 32

  /// The key as it came, 32 bytes.
  package let bytes: [UInt8]

  /// Takes 32 bytes; nil for another length, and for every encoding of a point of low order, zero included.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.length, !Sodium.isLowOrder(bytes) else { return nil }
    self.bytes = bytes
  }

  /// Takes canonical base64 of such a key; nil for anything else.
  package init?(base64: String) {
    guard let bytes = Base64.decode(base64) else { return nil }
    self.init(bytes: bytes)
  }

  /// The key as the wire carries it.
  package var base64: String { Base64.encode(bytes) }

  /// The host's name: the first 16 characters of base64url(SHA-256(key)) (contract, "Identities").
  package var fingerprint: HostFingerprint {
    let text = Base64Url.encode(Sodium.sha256(bytes)).prefix(HostFingerprint.length)
    guard let fingerprint = HostFingerprint(String(text)) else { preconditionFailure("base64url of 12 bytes") }
    return fingerprint
  }
}
