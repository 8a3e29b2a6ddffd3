/// Classes of bytes in HTTP's grammar (RFC 9110 5.6, RFC 3986).
enum Ascii {
  static let cr: UInt8 = 13
  static let lf: UInt8 = 10
  static let space: UInt8 = 32
  static let tab: UInt8 = 9

  /// `tchar`: what methods and field names are made of.
  static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122: true
    case 33, 35...39, 42, 43, 45, 46, 94, 95, 96, 124, 126: true
    default: false
    }
  }

  /// What may stand in a line: no control byte but tab.
  static func isFieldText(_ byte: UInt8) -> Bool { byte >= 32 ? byte != 127 : byte == tab }

  /// What an origin-form target may hold: visible ASCII, and no fragment.
  static func isTarget(_ byte: UInt8) -> Bool { byte > 32 && byte < 127 && byte != 35 }

  /// What a host, with or without a port, may hold (RFC 3986 3.2.2): unreserved, sub-delims, `%`, `:`, `[`, `]`.
  static func isHost(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122: true
    case 33, 36...46, 58, 59, 61, 91, 93, 95, 126: true
    default: false
    }
  }

  static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

  static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 32 : byte }

  static func hexValue(_ byte: UInt8) -> Int? {
    switch byte {
    case 48...57: Int(byte) - 48
    case 65...70: Int(byte) - 55
    case 97...102: Int(byte) - 87
    default: nil
    }
  }
}
