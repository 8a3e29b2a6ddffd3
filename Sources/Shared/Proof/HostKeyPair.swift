/// A host's X25519 key pair. Printing it shows the fingerprint's start alone.
package struct HostKeyPair: Sendable {
  /// The half that the gateway learns.
  package let publicKey: HostKey
  /// The half that never leaves the host, 32 bytes: for the proof and the host's own key file.
  package let secretKey: [UInt8]

  /// The pair of a 32-byte secret key; nil for another length.
  package init?(secretKey: [UInt8]) {
    guard secretKey.count == HostKey.length, let publicKey = HostKey(bytes: Sodium.publicKey(of: secretKey))
    else { return nil }
    self.publicKey = publicKey
    self.secretKey = secretKey
  }

  /// A new pair.
  package static func generate() -> HostKeyPair {
    guard let pair = HostKeyPair(secretKey: Sodium.random(HostKey.length))
    else { preconditionFailure("a multiple of the base point is not of low order") }
    return pair
  }
}

extension HostKeyPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The fingerprint's start.
  package var description: String { "HostKeyPair(\(publicKey.fingerprint))" }
  /// The same.
  package var debugDescription: String { description }
  /// A mirror without children.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
