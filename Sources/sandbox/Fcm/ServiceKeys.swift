internal import Keys

/// The keys that Google knows the service account by.
struct ServiceKeys: Sendable {
  private var verifiers: [String: Rs256Verifier] = [:]
  /// From then on (ms since 1970) only this key counts: the others have been deleted.
  var required: (keyId: String, from: Int64)?

  init(_ id: String, _ verifier: Rs256Verifier) { verifiers[id] = verifier }

  /// Adds a key, or replaces the one of the same id.
  mutating func add(_ id: String, _ verifier: Rs256Verifier) { verifiers[id] = verifier }

  /// Checks signatures by that key; nil when it does not count at `now` (ms since 1970).
  func verifier(_ id: String, now: Int64) -> Rs256Verifier? {
    if let required, now >= required.from, !id.utf8.elementsEqual(required.keyId.utf8) { return nil }
    return verifiers[id]
  }
}
