/// FNV-1a, 64 bits: names for statements.
enum Fnv {
  static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { mix($0, UInt32($1)) }
  }

  static func mix(_ hash: UInt64, _ next: UInt32) -> UInt64 { (hash ^ UInt64(next)) &* 0x100_0000_01b3 }

  /// Lends `hash` as a C string of a letter and 16 hex digits.
  static func withName<R>(_ hash: UInt64, _ body: (UnsafePointer<CChar>) -> R) -> R {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 18) { name in
      name[0] = CChar(bitPattern: UInt8(ascii: "s"))
      for place in 0..<16 {
        let digit = UInt8(truncatingIfNeeded: hash >> UInt64(60 - 4 * place)) & 15
        name[place + 1] = CChar(bitPattern: digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
      }
      name[17] = 0
      return body(UnsafePointer(name.baseAddress!))
    }
  }
}
