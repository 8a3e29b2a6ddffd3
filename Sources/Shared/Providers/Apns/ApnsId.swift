internal import Contract

/// The `apns-id` of a delivery: the same on every attempt, so that Apple's log shows one notification (rulings 6.4).
enum ApnsId {
  /// A lower-case UUID out of the delivery's 16 bytes. It wears the marks of version 4, the form that every reader takes.
  static func text(_ identity: [UInt8]) -> String {
    var bytes = Array((identity + [UInt8](repeating: 0, count: 16)).prefix(16))
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    let hex = Array(Hex.encode(bytes).utf8)
    let groups = [hex[0..<8], hex[8..<12], hex[12..<16], hex[16..<20], hex[20..<32]]
    return String(decoding: Array(groups.joined(separator: [UInt8(ascii: "-")])), as: UTF8.self)
  }
}
