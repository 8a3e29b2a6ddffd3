internal import Contract
internal import Proof

/// A host's identity: an X25519 key pair (contract, "Identities"). Printing it shows the fingerprint's start alone.
///
/// It does not change for as long as phones are paired with the host. ``KeyFile`` keeps it.
public struct HostKeys: Sendable {
  let pair: HostKeyPair

  /// A new identity.
  public static func generate() -> HostKeys { HostKeys(pair: .generate()) }

  init(pair: HostKeyPair) { self.pair = pair }

  /// The pair of a 32-byte secret key that is kept elsewhere; nil for another length.
  public init?(secretKey: [UInt8]) {
    guard let pair = HostKeyPair(secretKey: secretKey) else { return nil }
    self.pair = pair
  }

  /// The half that never leaves the host, 32 bytes.
  public var secretKey: [UInt8] { pair.secretKey }

  /// The half that phones and gateway know the host by, base64 of 32 bytes.
  public var publicKeyBase64: String { pair.publicKey.base64 }

  /// The host's name, 16 characters: for the wire and for phones, never for a log.
  public var fingerprint: String { pair.publicKey.fingerprint.text }
}

extension HostKeys: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The fingerprint's start.
  public var description: String { "HostKeys(\(pair.publicKey.fingerprint))" }
  /// The same.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
