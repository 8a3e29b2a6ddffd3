/// Takes an input apart into the things that a target needs. At its end it gives zeros and empty texts.
struct Input {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// Two bytes' number.
  mutating func number() -> Int { Int(byte()) << 8 | Int(byte()) }

  /// Bytes behind their count.
  mutating func bytes() -> [UInt8] { bytes(Int(byte())) }

  /// `count` bytes, or as many as there are.
  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// A text behind its count; bytes that are no UTF-8 become U+FFFD, as in a header's value.
  mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }
}

extension [UInt8] {
  var text: String { String(decoding: self, as: UTF8.self) }

  /// `self` with changes that `input` says: bytes put in place of others, taken out or put in. What is well formed is far
  /// from anything that chance would write.
  func changed(by input: inout Input) -> [UInt8] {
    var bytes = self
    while !input.rest.isEmpty {
      let how = input.byte()
      let place = input.number() % (bytes.count + 1)
      let end = Swift.min(place + Int(how >> 2), bytes.count)
      switch how & 3 {
      case 0: bytes.replaceSubrange(place..<end, with: input.bytes())
      case 1: bytes.removeSubrange(place..<end)
      default: bytes.insert(contentsOf: input.bytes(), at: place)
      }
    }
    return bytes
  }
}
