extension JsonReader {
  /// Reads a number; its sign or first digit is at hand.
  mutating func number(_ bytes: Span<UInt8>) throws(JsonFault) -> JsonValue {
    let start = offset
    let negative = take(UInt8(ascii: "-"), bytes)
    if let integer = try integerPart(bytes, negative: negative) { return .integer(integer) }
    if take(UInt8(ascii: "."), bytes) { try digits(bytes) }
    if take(UInt8(ascii: "e"), bytes) || take(UInt8(ascii: "E"), bytes) {
      if !take(UInt8(ascii: "+"), bytes) { _ = take(UInt8(ascii: "-"), bytes) }
      try digits(bytes)
    }
    guard let number = Double(try text(bytes.extracting(start..<offset))), number.isFinite else {
      throw JsonFault(reason: .numberOutOfRange, offset: start)
    }
    return .number(number)
  }

  /// Reads the digits before any fraction; nil when the literal is not a whole number of 64 bits.
  private mutating func integerPart(_ bytes: Span<UInt8>, negative: Bool) throws(JsonFault) -> Int64? {
    let leadingZero = next(bytes) == UInt8(ascii: "0")
    let start = offset
    // Built up negative, since the most negative integer has no positive twin.
    var integer: Int64 = 0
    var overflow = false
    while UInt8(ascii: "0")...UInt8(ascii: "9") ~= next(bytes) {
      let (shifted, first) = integer.multipliedReportingOverflow(by: 10)
      let (sum, second) = shifted.subtractingReportingOverflow(Int64(next(bytes) - UInt8(ascii: "0")))
      integer = sum
      overflow = overflow || first || second
      offset += 1
    }
    guard offset > start, !leadingZero || offset == start + 1 else { throw fault(.badNumber) }
    switch next(bytes) {
    case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): return nil
    default: break
    }
    if overflow || (!negative && integer == .min) { return nil }
    return negative ? integer : -integer
  }

  /// Passes one digit or more.
  private mutating func digits(_ bytes: Span<UInt8>) throws(JsonFault) {
    let start = offset
    while UInt8(ascii: "0")...UInt8(ascii: "9") ~= next(bytes) { offset += 1 }
    guard offset > start else { throw fault(.badNumber) }
  }
}
