/// Standard base64 (RFC 4648 section 4), canonical in both directions: one text for each run of bytes.
package enum Base64 {
  /// Padded text of `bytes`; empty for no bytes.
  package static func encode(_ bytes: [UInt8]) -> String {
    var text = Sextets.encode(bytes, with: .standard)
    while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of `text`, or nil unless it has the right alphabet, exact padding and zero padding bits (rulings 1.5).
  package static func decode(_ text: String) -> [UInt8]? {
    var symbols = text.utf8[...]
    guard symbols.count % 4 == 0 else { return nil }
    for _ in 0..<2 where symbols.last == UInt8(ascii: "=") { symbols.removeLast() }
    return Sextets.decode(symbols, with: .standard)
  }
}

/// Base64url without padding (RFC 4648 section 5, RFC 7515 section 2), canonical in both directions.
package enum Base64Url {
  /// Unpadded text of `bytes`; empty for no bytes.
  package static func encode(_ bytes: [UInt8]) -> String {
    String(decoding: Sextets.encode(bytes, with: .url), as: UTF8.self)
  }

  /// The bytes of `text`, or nil unless it has the right alphabet, no padding and zero padding bits.
  package static func decode(_ text: String) -> [UInt8]? {
    Sextets.decode(text.utf8[...], with: .url)
  }
}

/// The two alphabets, which differ in their last two symbols.
private enum Sextets {
  enum Alphabet: Sendable {
    case standard, url

    var last: (UInt8, UInt8) {
      switch self {
      case .standard: (UInt8(ascii: "+"), UInt8(ascii: "/"))
      case .url: (UInt8(ascii: "-"), UInt8(ascii: "_"))
      }
    }
  }

  static func encode(_ bytes: [UInt8], with alphabet: Alphabet) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var bits: UInt32 = 0
    var held = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      held += 8
      while held >= 6 {
        held -= 6
        text.append(symbol(UInt8(bits >> UInt32(held) & 63), alphabet))
      }
      bits &= 63
    }
    if held > 0 { text.append(symbol(UInt8(bits << UInt32(6 - held) & 63), alphabet)) }
    return text
  }

  static func decode(_ symbols: Substring.UTF8View, with alphabet: Alphabet) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(symbols.count * 3 / 4)
    var bits: UInt32 = 0
    var held = 0
    for symbol in symbols {
      guard let value = value(symbol, alphabet) else { return nil }
      bits = bits << 6 | UInt32(value)
      held += 6
      if held >= 8 {
        held -= 8
        bytes.append(UInt8(bits >> UInt32(held) & 255))
      }
      bits &= 63
    }
    // Six bits left over are a lone symbol, which stands for no byte; else what is left over must be zero.
    guard held < 6, bits & (1 << UInt32(held) - 1) == 0 else { return nil }
    return bytes
  }

  private static func symbol(_ value: UInt8, _ alphabet: Alphabet) -> UInt8 {
    switch value {
    case 0..<26: UInt8(ascii: "A") + value
    case 26..<52: UInt8(ascii: "a") + value - 26
    case 52..<62: UInt8(ascii: "0") + value - 52
    case 62: alphabet.last.0
    default: alphabet.last.1
    }
  }

  private static func value(_ symbol: UInt8, _ alphabet: Alphabet) -> UInt8? {
    switch symbol {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): symbol - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): symbol - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): symbol - UInt8(ascii: "0") + 52
    case alphabet.last.0: 62
    case alphabet.last.1: 63
    default: nil
    }
  }
}
