/// What a DER file is, told by its first few tags (X.690; RFC 5208, 5280, 5915, 7292, 8017).
enum DerShape {
  case privateKey, encryptedKey, publicKey, certificate, pkcs12

  /// Nil for bytes that are none of these. It looks at the frame alone: the content may still be unreadable.
  init?(_ bytes: [UInt8]) {
    guard let frame = Self.element(bytes[...], tag: 0x30), frame.rest.isEmpty else { return nil }
    if let version = Self.element(frame.content, tag: 0x02) {
      // SEQUENCE { INTEGER version, … }
      switch (version.content.elementsEqual([3]), version.rest.first) {
      case (true, 0x30): self = .pkcs12
      case (false, 0x30), (false, 0x04), (false, 0x02): self = .privateKey  // PKCS#8, SEC1, PKCS#1
      default: return nil
      }
    } else if let first = Self.element(frame.content, tag: 0x30) {
      // SEQUENCE { SEQUENCE { … }, … }
      switch first.rest.first {
      case 0x03: self = .publicKey
      case 0x04: self = .encryptedKey
      case 0x30: self = .certificate
      default: return nil
      }
    } else {
      return nil
    }
  }

  /// The content of the element at the front, and what follows it; nil if it has another tag or does not fit.
  private static func element(
    _ bytes: ArraySlice<UInt8>, tag: UInt8
  ) -> (content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
    guard bytes.count >= 2, bytes.first == tag else { return nil }
    var rest = bytes.dropFirst(2)
    var count = Int(bytes[bytes.startIndex + 1])
    if count >= 0x80 {
      let digits = count & 0x7f
      guard (1...3).contains(digits), rest.count >= digits else { return nil }
      count = rest.prefix(digits).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(digits)
    }
    guard rest.count >= count else { return nil }
    return (rest.prefix(count), rest.dropFirst(count))
  }

  /// Why a file of this shape is no private key in PEM.
  var fault: KeyFault {
    switch self {
    case .privateKey: .bareDer
    case .encryptedKey: .encrypted
    case .publicKey: .publicKey
    case .certificate: .certificate
    case .pkcs12: .pkcs12
    }
  }
}
