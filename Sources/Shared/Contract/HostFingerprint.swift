/// Who a host is: the first 16 characters of base64url(SHA-256(its public key)) (contract, "Identities").
///
/// ASCII by construction, so that `==` compares bytes. Room Proof derives it from a `HostKey`.
package struct HostFingerprint: Hashable, Sendable {
  /// Characters of a fingerprint.
  package static let length = 16

  /// All 16 characters: for the wire and the store, never for a log.
  package let text: String

  /// Takes 16 characters of the base64url alphabet; nil for anything else.
  package init?(_ text: String) {
    guard text.utf8.count == Self.length, Base64Url.decode(text) != nil else { return nil }
    self.text = text
  }
}

extension HostFingerprint: CustomStringConvertible {
  /// The first 4 characters, which is all that a log may hold (contract, "Logging").
  package var description: String { text.prefix(4) + "…" }
}
