internal import Contract

/// One block of PEM (RFC 7468): what its label promises and the bytes between its lines.
struct PemBlock {
  enum Kind {
    case pkcs8, sec1, pkcs1, encryptedKey, publicKey, certificate, other

    /// Tells by the label without its spaces, since spaces may have been lost.
    init(label: [UInt8]) {
      let label = String(decoding: label.filter { !isSpace($0) }, as: UTF8.self)
      switch label {
      case "PRIVATEKEY": self = .pkcs8
      case "ECPRIVATEKEY": self = .sec1
      case "RSAPRIVATEKEY": self = .pkcs1
      case "ENCRYPTEDPRIVATEKEY": self = .encryptedKey
      case "PUBLICKEY": self = .publicKey
      case "CERTIFICATE", "X509CERTIFICATE", "TRUSTEDCERTIFICATE": self = .certificate
      default: self = label.hasSuffix("PUBLICKEY") ? .publicKey : .other
      }
    }

    /// The label as it should be; nil for kinds that are never written.
    var label: String? {
      switch self {
      case .pkcs8: "PRIVATE KEY"
      case .sec1: "EC PRIVATE KEY"
      case .pkcs1: "RSA PRIVATE KEY"
      case .publicKey: "PUBLIC KEY"
      case .encryptedKey, .certificate, .other: nil
      }
    }

    var isPrivateKey: Bool { self == .pkcs8 || self == .sec1 || self == .pkcs1 || self == .encryptedKey }
  }

  var kind: Kind
  var body: ArraySlice<UInt8>

  private static let begin = Array("-----BEGIN".utf8)
  private static let end = Array("-----END".utf8)
  private static let dashes = Array("-----".utf8)

  /// The blocks in `text`, in order; whatever stands between them is skipped, as PEM allows.
  static func all(in text: [UInt8]) throws(KeyFault) -> [PemBlock] {
    var blocks: [PemBlock] = []
    var rest = text[...]
    while let start = find(begin, in: rest) {
      rest = rest[start.upperBound...]
      guard let labelEnd = find(dashes, in: rest) else { throw .truncated }
      let label = Array(rest[..<labelEnd.lowerBound])
      rest = rest[labelEnd.upperBound...]
      guard let bodyEnd = find(end, in: rest) else { throw .truncated }
      let body = rest[..<bodyEnd.lowerBound]
      guard find(begin, in: body) == nil else { throw .truncated }
      rest = rest[bodyEnd.upperBound...]
      guard let last = find(dashes, in: rest) else { throw .truncated }
      rest = rest[last.upperBound...]
      blocks.append(PemBlock(kind: Kind(label: label), body: body))
    }
    guard blocks.isEmpty == false || find(end, in: text[...]) == nil else { throw .truncated }
    return blocks
  }

  /// The bytes that the body stands for.
  var der: [UInt8] {
    get throws(KeyFault) {
      // Headers of the old form say that the key is encrypted (RFC 1421, 4.6.1.1).
      if Self.find(Array("Proc-Type".utf8), in: body) != nil { throw .encrypted }
      guard let der = tolerantBase64(body), !der.isEmpty else { throw .corrupt }
      return der
    }
  }

  /// PEM of `der` as OpenSSL writes it: lines of 64 characters.
  static func text(_ der: [UInt8], kind: Kind) -> String {
    let label = kind.label ?? ""
    var lines = ["-----BEGIN \(label)-----"]
    var rest = Base64.encode(der)[...]
    while !rest.isEmpty {
      lines.append(String(rest.prefix(64)))
      rest = rest.dropFirst(64)
    }
    return (lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
  }

  private static func find(_ pattern: [UInt8], in text: ArraySlice<UInt8>) -> Range<Int>? {
    var place = text.startIndex
    while place + pattern.count <= text.endIndex {
      if text[place] == pattern[0], text[place...].starts(with: pattern) { return place..<place + pattern.count }
      place += 1
    }
    return nil
  }
}

/// Space, tab, newline or carriage return.
func isSpace(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
}

/// Base64 of either alphabet, wherever it is wrapped and with or without padding: people's tools differ.
func tolerantBase64(_ text: ArraySlice<UInt8>) -> [UInt8]? {
  var symbols = text.filter { !isSpace($0) }
  for _ in 0..<2 where symbols.last == UInt8(ascii: "=") { symbols.removeLast() }
  for place in symbols.indices {
    switch symbols[place] {
    case UInt8(ascii: "+"): symbols[place] = UInt8(ascii: "-")
    case UInt8(ascii: "/"): symbols[place] = UInt8(ascii: "_")
    default: break
    }
  }
  return Base64Url.decode(String(decoding: symbols, as: UTF8.self))
}
