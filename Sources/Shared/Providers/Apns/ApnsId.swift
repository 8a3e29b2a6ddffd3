internal import Contract

/// The `apns-id` of a delivery: the same on every attempt, so that Apple's log shows one notification (rulings 6.4).
enum ApnsId {
  /// A lower-case UUID out of the delivery's 16 bytes. It wears the marks of version 4, the form that every reader takes.
  static func text(_ identity: [UInt8]) -> String {
    var bytes = Array((identity + [UInt8](repeating: 0, count: 16)).prefix(16))
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (place, byte) in bytes.enumerated() {
      if place == 4 || place == 6 || place == 8 || place == 10 { text.append(UInt8(ascii: "-")) }
      text.append(Hex.digit(byte >> 4))
      text.append(Hex.digit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
  }
}
