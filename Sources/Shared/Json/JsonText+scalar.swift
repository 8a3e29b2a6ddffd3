extension JsonText {
  /// Appends the string's bytes, escaping those that may not stand raw.
  mutating func append(escaping string: String) {
    let raw = string.utf8Span.span
    var clean = 0
    while clean < raw.count, !Self.mustEscape(raw[clean]) { clean += 1 }
    // Most strings are clean to the end and copied at one go.
    if clean == raw.count { return bytes.append(contentsOf: string.utf8) }
    for index in raw.indices {
      if Self.mustEscape(raw[index]) { append(escape: raw[index]) } else { bytes.append(raw[index]) }
    }
  }

  private static func mustEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func append(escape byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0a: bytes.append(UInt8(ascii: "n"))
    case 0x0c: bytes.append(UInt8(ascii: "f"))
    case 0x0d: bytes.append(UInt8(ascii: "r"))
    case 0..<0x20:
      bytes.append(contentsOf: "u00".utf8)
      bytes.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
      let digit = byte & 0x0f
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    default: bytes.append(byte)
    }
  }

  /// Appends the integer's decimal digits, with a minus where due.
  mutating func append(decimal integer: Int64) {
    if integer < 0 { bytes.append(UInt8(ascii: "-")) }
    let magnitude = integer.magnitude
    var divisor: UInt64 = 1
    while magnitude / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(magnitude / divisor % 10))
      divisor /= 10
    }
  }

  /// Appends the number as ECMAScript's Number::toString lays it out. Swift finds the same shortest digits, but it
  /// places the point, pads the exponent and marks whole numbers in its own way.
  mutating func append(number: Double) {
    guard number.isFinite else { return bytes.append(contentsOf: "null".utf8) }
    guard number != 0 else { return bytes.append(UInt8(ascii: "0")) }
    if number < 0 { bytes.append(UInt8(ascii: "-")) }

    let parts = number.magnitude.description.split(separator: "e")
    var digits = parts[0].utf8.filter { $0 != UInt8(ascii: ".") }
    var point = parts[0].utf8.prefix { $0 != UInt8(ascii: ".") }.count
    if parts.count > 1 { point += Int(parts[1]) ?? 0 }
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    let leadingZeros = digits.prefix { $0 == UInt8(ascii: "0") }.count
    append(digits[leadingZeros...], point: point - leadingZeros)
  }

  /// Appends 0.DIGITS times ten to the power of `point`; the digits, 1 to 17, neither begin nor end with a zero.
  private mutating func append(_ digits: ArraySlice<UInt8>, point: Int) {
    switch point {
    case digits.count...21:
      bytes.append(contentsOf: digits)
      bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: point - digits.count))
    case 1..<digits.count:
      bytes.append(contentsOf: digits.prefix(point))
      bytes.append(UInt8(ascii: "."))
      bytes.append(contentsOf: digits.dropFirst(point))
    case -5...0:
      bytes.append(contentsOf: "0.".utf8)
      bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: -point))
      bytes.append(contentsOf: digits)
    default:
      bytes.append(contentsOf: digits.prefix(1))
      if digits.count > 1 { bytes.append(UInt8(ascii: ".")) }
      bytes.append(contentsOf: digits.dropFirst())
      bytes.append(contentsOf: (point > 0 ? "e+" : "e-").utf8)
      append(decimal: Int64((point - 1).magnitude))
    }
  }
}
