import Json

/// A fixed sequence of bits for each seed (SplitMix64), the same on every machine.
struct SeededBits: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// Writes random documents: mostly of the grammar, in all its spellings, and damaged ones.
struct Documents {
  private var bits: SeededBits

  init(seed: UInt64) { bits = SeededBits(seed: seed) }

  /// A document of the grammar, save that keys may repeat, surrogates stand alone and numbers be too large.
  mutating func document() -> [UInt8] { space() + value(depth: 0) + space() }

  /// The document with one to three faults: cut, a byte changed, dropped or doubled, a piece of JSON put in.
  mutating func damaged(_ document: [UInt8]) -> [UInt8] {
    var bytes = document
    for _ in 0..<below(3) + 1 where !bytes.isEmpty {
      let place = below(bytes.count)
      switch below(6) {
      case 0: bytes.removeLast(bytes.count - place)
      case 1: bytes[place] = UInt8(truncatingIfNeeded: bits.next())
      case 2: bytes[place] ^= 1 << UInt8(below(8))
      case 3: bytes.remove(at: place)
      case 4: bytes.insert(bytes[place], at: place)
      default: bytes.insert(contentsOf: Self.pieces[below(Self.pieces.count)], at: place)
      }
    }
    return bytes
  }

  private static let pieces: [[UInt8]] =
    [
      "\"", "\\", ",", ":", "[", "]", "{", "}", "-", "0", ".", "e", "E+", "\\u", "\\ud800", "\\udc00", "null", "NaN",
      "Infinity", "-Infinity", "//", "/**/", "\u{feff}", "\0", "\t", "\n", "\u{c}", "\u{a0}", "é", "😀", "[[[[[[[[",
      "\"a\":1,",
    ].map { Array($0.utf8) } + [[0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf4, 0x90, 0x80, 0x80], [0xff]]

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &bits) }

  private mutating func chance(_ oneIn: Int) -> Bool { below(oneIn) == 0 }

  private mutating func pick(_ texts: [String]) -> [UInt8] { Array(texts[below(texts.count)].utf8) }

  private mutating func space() -> [UInt8] { chance(4) ? pick([" ", "\n", "\t", "\r\n", "  "]) : [] }

  private mutating func value(depth: Int) -> [UInt8] {
    switch depth > 5 ? below(5) : below(10) {
    case 0: return pick(["null", "true", "false"])
    case 1, 2: return number()
    case 3, 4: return string()
    case 5, 6: return list("[", "]", depth: depth) { $0.value(depth: depth + 1) }
    default:
      return list("{", "}", depth: depth) {
        $0.key() + $0.space() + Array(":".utf8) + $0.space() + $0.value(depth: depth + 1)
      }
    }
  }

  private mutating func list(
    _ open: String, _ close: String, depth: Int, item: (inout Documents) -> [UInt8]
  ) -> [UInt8] {
    // Now and then a chain close to the bound on depth.
    if chance(40), open == "[" {
      let levels = 12 + below(6)
      return Array(String(repeating: open, count: levels).utf8) + number()
        + Array(String(repeating: close, count: levels).utf8)
    }
    var bytes = Array(open.utf8) + space()
    for index in 0..<(chance(30) ? 20 : below(5)) {
      if index > 0 { bytes += Array(",".utf8) + space() }
      bytes += item(&self) + space()
    }
    return bytes + Array(close.utf8)
  }

  private mutating func key() -> [UInt8] {
    chance(3) ? pick(["\"v\"", "\"\\u0076\"", "\"é\"", "\"e\u{301}\"", "\"\\u00e9\"", "\"\"", "\"title\""]) : string()
  }

  private mutating func number() -> [UInt8] {
    func digits(_ count: Int) -> String { (0..<count).map { _ in "\(below(10))" }.joined() }
    if chance(4) {
      return pick([
        "0", "-0", "0.0", "-0.0", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "1e308", "1e309", "-1e400", "1e-400", "2.2250738585072011e-308", "5e-324", "1e23",
        "0e999999",
        "9007199254740993.0", "1.0", "1e0", "179769313486231580793728971405301e276",
      ])
    }
    var text = chance(3) ? "-" : ""
    text += chance(4) ? "0" : "\(below(9) + 1)" + digits(below(chance(5) ? 40 : 12))
    if chance(3) { text += "." + digits(below(chance(5) ? 40 : 6) + 1) }
    if chance(4) { text += (chance(2) ? "e" : "E") + ["", "+", "-"][below(3)] + digits(below(3) + 1) }
    return Array(text.utf8)
  }

  private mutating func string() -> [UInt8] {
    var bytes = Array("\"".utf8)
    for _ in 0..<(chance(10) ? 60 : below(12)) {
      switch below(12) {
      case 0: bytes += pick(["\\n", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\r", "\\t"])
      case 1:
        bytes += pick(["\\u0041", "\\u00E9", "\\u001f", "\\u0000", "\\ud83d\\ude00", "\\uDBFF\\uDFFF", "\\uffff"])
      case 2:
        bytes += pick(["é", "€", "😀", "e\u{301}", "\u{7f}", "\u{80}", "\u{2028}", "\u{10ffff}", "\u{feff}", "\u{d7ff}"])
      case 3 where chance(20): bytes += pick(["\\ud800", "\\udc00", "\\ud800\\u0041", "\\udc00\\ud800"])
      default: bytes.append(UInt8(ascii: "a") + UInt8(below(26)))
      }
    }
    return bytes + Array("\"".utf8)
  }
}
