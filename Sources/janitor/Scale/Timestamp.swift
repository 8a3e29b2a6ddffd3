/// Times as Google writes them (RFC 3339 in UTC).
enum Timestamp {
  /// Unix seconds of e.g. `2026-11-30T14:37:22.123456789Z`, its fraction cut off; nil for anything else.
  static func seconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"), bytes[4] == 0x2d, bytes[7] == 0x2d,
      bytes[10] == UInt8(ascii: "T"), bytes[13] == 0x3a, bytes[16] == 0x3a,
      bytes.count == 20 || (bytes[19] == 0x2e && bytes.count > 21),
      bytes[min(20, bytes.count - 1)..<(bytes.count - 1)].allSatisfy(isDigit),
      let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
      let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
    else { return nil }
    return ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
  }

  /// Days since 1970-01-01, by years that begin in March, so that a leap day comes last.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let marchYear = month <= 2 ? year - 1 : year
    let dayOfYear = (153 * (month <= 2 ? month + 9 : month - 3) + 2) / 5 + day - 1
    return marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    digits.allSatisfy(isDigit) ? digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) } : nil
  }
}
