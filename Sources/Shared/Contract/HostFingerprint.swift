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

  /// Whether `text` may be how a fingerprint begins, and is long enough to look one up by: at least 4 characters.
  package static func isPrefix(_ text: String) -> Bool {
    (4...length).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
      }
  }
}

extension HostFingerprint: CustomStringConvertible {
  /// The first 4 characters, which is all that a log may hold (contract, "Logging").
  package var description: String { text.prefix(4) + "…" }
}
