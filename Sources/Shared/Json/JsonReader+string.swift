extension JsonReader {
  /// Reads a string; the quote that opens it is at hand.
  mutating func string(_ bytes: Span<UInt8>) throws(JsonFault) -> String {
    let opened = offset
    offset += 1
    // The common case has no escapes: the bytes between the quotes are the string.
    while offset < bytes.count {
      switch bytes[offset] {
      case UInt8(ascii: "\""):
        let string = try text(bytes.extracting(opened + 1..<offset))
        offset += 1
        return string
      case UInt8(ascii: "\\"):
        return try escapedString(bytes, from: opened + 1)
      case 0..<0x20:
        throw fault(.controlCharacter)
      default:
        offset += 1
      }
    }
    throw fault(.unterminatedString)
  }

  /// The bytes as a string, which they are only if they are well-formed UTF-8.
  func text(_ bytes: Span<UInt8>) throws(JsonFault) -> String {
    do {
      return String(copying: try UTF8Span(validating: bytes))
    } catch {
      throw fault(.invalidUtf8)
    }
  }

  /// Reads on from the first backslash. Raw bytes are taken over as they are and judged once at the end, in which an
  /// escape can neither complete nor hide a broken sequence: it always adds whole scalars.
  private mutating func escapedString(_ bytes: Span<UInt8>, from start: Int) throws(JsonFault) -> String {
    var unescaped: [UInt8] = []
    unescaped.reserveCapacity(offset - start + 32)
    for index in start..<offset { unescaped.append(bytes[index]) }
    while offset < bytes.count {
      let byte = bytes[offset]
      switch byte {
      case UInt8(ascii: "\""):
        let string = try text(unescaped.span)
        offset += 1
        return string
      case UInt8(ascii: "\\"):
        offset += 1
        try escape(bytes, into: &unescaped)
      case 0..<0x20:
        throw fault(.controlCharacter)
      default:
        unescaped.append(byte)
        offset += 1
      }
    }
    throw fault(.unterminatedString)
  }

  /// Reads what follows a backslash.
  private mutating func escape(_ bytes: Span<UInt8>, into unescaped: inout [UInt8]) throws(JsonFault) {
    let letter = next(bytes)
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(letter)
    case UInt8(ascii: "b"): unescaped.append(0x08)
    case UInt8(ascii: "t"): unescaped.append(0x09)
    case UInt8(ascii: "n"): unescaped.append(0x0a)
    case UInt8(ascii: "f"): unescaped.append(0x0c)
    case UInt8(ascii: "r"): unescaped.append(0x0d)
    case UInt8(ascii: "u"):
      offset += 1
      unescaped.append(contentsOf: String(try unicodeEscape(bytes)).utf8)
      return
    default: throw fault(.badEscape)
    }
    offset += 1
  }

  /// Reads the digits after `\u` and, where they are the first half of a surrogate pair, the second half.
  private mutating func unicodeEscape(_ bytes: Span<UInt8>) throws(JsonFault) -> Unicode.Scalar {
    var code = try fourHexDigits(bytes)
    if 0xd800...0xdbff ~= code {
      guard take(UInt8(ascii: "\\"), bytes), take(UInt8(ascii: "u"), bytes) else { throw fault(.loneSurrogate) }
      let low = try fourHexDigits(bytes)
      guard 0xdc00...0xdfff ~= low else { throw fault(.loneSurrogate) }
      code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw fault(.loneSurrogate) }
    return scalar
  }

  private mutating func fourHexDigits(_ bytes: Span<UInt8>) throws(JsonFault) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      let digit = next(bytes)
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): code = code << 4 | UInt32(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): code = code << 4 | UInt32(digit - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): code = code << 4 | UInt32(digit - UInt8(ascii: "A") + 10)
      default: throw fault(.badEscape)
      }
      offset += 1
    }
    return code
  }
}
