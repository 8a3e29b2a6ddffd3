/// A private key as people paste it into a setting, brought into one form (rulings section 8).
///
/// Taken: real newlines, literal `\n` however often its backslash was doubled, CRLF, a byte order mark, quotes around
/// it, white space turned into spaces or lost, one line, and base64 of any of these. Whatever seems to be something
/// else is refused with its name.
package enum PemText {
  /// Bytes of text that are looked at: some ten times the largest key that is in use.
  package static let limit = 65_536

  /// The one private key in `text` as PEM with lines of 64 characters.
  package static func normalise(_ text: String) throws(KeyFault) -> String {
    try normalise(bytes: Array(text.utf8))
  }

  /// The same for a file's content, which may turn out not to be text.
  package static func normalise(bytes: [UInt8]) throws(KeyFault) -> String {
    let key = try privateKey(in: bytes)
    return PemBlock.text(key.der, kind: key.kind)
  }

  /// The one private key in `bytes`, of a shape that a private key has.
  static func privateKey(in bytes: [UInt8]) throws(KeyFault) -> (kind: PemBlock.Kind, der: [UInt8]) {
    let blocks = try blocks(in: bytes, unwraps: 2)
    let keys = blocks.filter(\.kind.isPrivateKey)
    guard let key = keys.first else {
      switch blocks.first?.kind {
      case .certificate: throw .certificate
      case .publicKey: throw .publicKey
      default: throw .otherBlock
      }
    }
    guard keys.count == 1 else { throw .severalKeys }
    guard key.kind != .encryptedKey else { throw .encrypted }
    let der = try key.der
    guard let shape = DerShape(der) else { throw .corrupt }
    guard shape == .privateKey else { throw shape.fault }
    return (key.kind, der)
  }

  /// The blocks of PEM in `bytes`, at least one; base64 is taken off as often as `unwraps` says.
  static func blocks(in bytes: [UInt8], unwraps: Int) throws(KeyFault) -> [PemBlock] {
    guard bytes.count <= limit else { throw .tooLong }
    if let shape = DerShape(bytes) { throw shape.fault }
    guard isText(bytes) else { throw .binary }
    let text = bare(bytes)
    guard let first = text.first else { throw .empty }
    if first == UInt8(ascii: "{") {
      throw String(decoding: text, as: UTF8.self).contains("\"private_key") ? .serviceAccount : .json
    }
    let found = try PemBlock.all(in: text)
    guard found.isEmpty else { return found }
    guard !isPath(text) else { throw .path }
    guard unwraps > 0, let inner = tolerantBase64(text[...]), inner != bytes else { throw .unrecognised }
    do throws(KeyFault) {
      return try blocks(in: inner, unwraps: unwraps - 1)
    } catch .binary, .empty, .path {
      // A word of letters is base64 of something, which says nothing about it.
      throw .unrecognised
    }
  }

  /// Whether `bytes` are UTF-8 without control characters and without what decoders put in place of bad bytes.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    return text.unicodeScalars.allSatisfy { ($0.value >= 0x20 || isSpace(UInt8($0.value))) && $0 != "\u{fffd}" }
  }

  /// `bytes` without byte order mark, escapes, and white space and quotes around.
  private static func bare(_ bytes: [UInt8]) -> [UInt8] {
    var rest = bytes[...]
    if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
    var text: [UInt8] = []
    text.reserveCapacity(rest.count)
    // No backslash belongs into PEM or base64: a run of them is an escape, however often it was escaped again.
    var escaped = false
    for byte in rest {
      switch byte {
      case UInt8(ascii: "\\"):
        escaped = true
        continue
      case UInt8(ascii: "n") where escaped, UInt8(ascii: "r") where escaped, UInt8(ascii: "t") where escaped:
        text.append(UInt8(ascii: "\n"))
      default:
        text.append(byte)
      }
      escaped = false
    }
    let quotes = Array("\"'`".utf8)
    func around(_ byte: UInt8) -> Bool { isSpace(byte) || quotes.contains(byte) }
    guard let first = text.firstIndex(where: { !around($0) }), let last = text.lastIndex(where: { !around($0) })
    else { return [] }
    return Array(text[first...last])
  }

  /// Whether `text` begins or ends as a path does and is as short as one.
  private static func isPath(_ text: [UInt8]) -> Bool {
    let text = String(decoding: text, as: UTF8.self)
    guard text.utf8.count <= 1_024 else { return false }
    let endings = [".p8", ".pem", ".key", ".p12", ".pfx", ".json", ".der", ".cer", ".crt", ".txt"]
    let beginnings = ["/", "./", "../", "~", "file:"]
    let lower = text.lowercased()
    // The backslash of C:\ has been taken for an escape by now.
    let isDrive = lower.utf8.count > 2 && lower.utf8.dropFirst().first == UInt8(ascii: ":")
    return isDrive || endings.contains(where: lower.hasSuffix) || beginnings.contains(where: lower.hasPrefix)
  }
}
