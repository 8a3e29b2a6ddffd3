/// Why a text is not the key that is due. It names what the text seems to be and never holds any of it.
package enum KeyFault: Error, Equatable, Sendable {
  /// Nothing but white space or quotes.
  case empty
  /// More than `PemText.limit` bytes.
  case tooLong
  /// The name of a file in place of what is in it.
  case path
  /// A Google service account's JSON file.
  case serviceAccount
  /// Some other JSON.
  case json
  /// A PKCS#12 file (.p12, .pfx), as such or in base64.
  case pkcs12
  /// A key's DER, as such or in base64, without the lines that make it PEM.
  case bareDer
  /// Bytes that are no text and no file known here.
  case binary
  /// A certificate.
  case certificate
  /// A public key.
  case publicKey
  /// A private key under a passphrase.
  case encrypted
  /// A PEM block of another kind: OpenSSH's, a request, parameters alone.
  case otherBlock
  /// A PEM block without its first or its last line.
  case truncated
  /// More than one private key.
  case severalKeys
  /// PEM of the right kind whose content cannot be read: characters were lost or changed.
  case corrupt
  /// None of the forms above.
  case unrecognised
  /// A key of another kind, size or curve than is due.
  case wrongKey(found: String, due: String)
  /// A private key that does not sign, or whose public half is another key's.
  case unfit
  /// OpenSSL refuses for a reason that lies not in the key.
  case library
}

extension KeyFault: CustomStringConvertible {
  /// One line for an operator, to follow the name of a setting.
  package var description: String {
    switch self {
    case .empty: "is empty"
    case .tooLong: "is longer than \(PemText.limit) bytes, too long for a key"
    case .path: "seems to be a file's path; give what is in the file"
    case .serviceAccount: "seems to be a Google service account (JSON); a private key in PEM is due"
    case .json: "seems to be JSON; a private key in PEM is due"
    case .pkcs12: "seems to be a PKCS#12 file (.p12 or .pfx); a private key in PEM (.p8) is due"
    case .bareDer: "seems to be a key without its BEGIN and END lines (DER); a private key in PEM is due"
    case .binary: "seems to be a binary file (.p12, .pfx, .der?); a private key in PEM is due"
    case .certificate: "seems to be a certificate; a private key is due"
    case .publicKey: "seems to be a public key; the private key is due"
    case .encrypted: "seems to be a key under a passphrase; give it without one"
    case .otherBlock: "seems to be PEM of something else than a private key in PKCS#8, SEC1 or PKCS#1"
    case .truncated: "seems to be PEM that lacks its BEGIN or END line"
    case .severalKeys: "holds more than one private key"
    case .corrupt: "seems to be a private key with characters lost or changed"
    case .unrecognised: "is neither PEM nor base64 of PEM; a private key (-----BEGIN PRIVATE KEY-----) is due"
    case .wrongKey(let found, let due): "seems to be \(found); \(due) is due"
    case .unfit: "is a private key that does not sign: its two halves may not belong together"
    case .library: "cannot be used: OpenSSL refuses"
    }
  }
}
