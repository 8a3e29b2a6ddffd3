/// What a host and one of its phones can read and nobody between them: the key that follows from their common secret.
///
/// key = HMAC-SHA256(device secret, "orca-push-e2e-v1").
package struct PushSeal: Sendable {
  /// Bytes of a nonce.
  package static let nonceLength = 24
  /// Bytes that sealing adds to what is sealed.
  package static let overhead = 16

  private let key: [UInt8]

  /// - Parameter deviceSecret: any number of bytes.
  package init(deviceSecret: [UInt8]) {
    key = Sodium.hmacSha256(Array("orca-push-e2e-v1".utf8), anyKey: deviceSecret)
  }

  /// A nonce that nobody has used: 24 bytes at random.
  package static func freshNonce() -> [UInt8] { Sodium.random(nonceLength) }

  /// NaCl's secretbox of the plaintext.
  package func seal(_ plaintext: [UInt8], nonce: [UInt8]) -> [UInt8] { Sodium.seal(plaintext, nonce: nonce, key: key) }

  /// HMAC-SHA256 of a text under the key, 32 bytes: a name that says nothing to others.
  package func tag(_ text: String) -> [UInt8] { Sodium.hmacSha256(Array(text.utf8), key: key) }
}
