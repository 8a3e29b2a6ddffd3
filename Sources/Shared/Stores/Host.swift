package import Contract

/// A proven host, as the store knows it.
package struct Host: Sendable, Hashable {
  /// The store's own short key for the host; every row of the host carries it.
  package let number: Int64
  package let fingerprint: HostFingerprint

  package init(number: Int64, fingerprint: HostFingerprint) {
    self.number = number
    self.fingerprint = fingerprint
  }
}
