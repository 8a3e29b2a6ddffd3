/// SHA-256 of the one right answer to a challenge: all that is kept of it (rulings 2.2).
///
/// Neither the secret nor the proof follows from it.
package struct ProofDigest: Hashable, Sendable {
  /// Bytes of a digest.
  package static let length = 32

  /// The 32 bytes, for the store.
  package let bytes: [UInt8]

  /// The digest of a proof.
  package init(of proof: [UInt8]) { bytes = Sodium.sha256(proof) }

  /// A digest that was stored; nil unless it has 32 bytes.
  package init?(stored bytes: [UInt8]) {
    guard bytes.count == Self.length else { return nil }
    self.bytes = bytes
  }

  /// Whether `proof` is the right answer. Compares in constant time; any length may be asked.
  package func matches(_ proof: [UInt8]) -> Bool { Sodium.equal(bytes, Sodium.sha256(proof)) }
}
