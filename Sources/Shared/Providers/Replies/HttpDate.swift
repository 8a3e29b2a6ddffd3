/// Dates in HTTP headers (RFC 9110, 5.6.7).
enum HttpDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Unix ms of any of the three forms: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and
  /// `Sun Nov  6 08:49:37 1994`. Nil for anything else. The day of the week is not looked at.
  static func parse(_ text: String) -> Int64? {
    guard text.utf8.count <= 64 else { return nil }
    let parts = text.split { $0 == " " || $0 == "-" || $0 == "," }.map(String.init)
    switch parts.count {
    case 6 where parts[5] == "GMT": return time(day: parts[1], month: parts[2], year: parts[3], clock: parts[4])
    case 5: return time(day: parts[2], month: parts[1], year: parts[4], clock: parts[3])
    default: return nil
    }
  }

  private static func time(day: String, month: String, year: String, clock: String) -> Int64? {
    let clock = clock.split(separator: ":").map { number($0, 0...60) }
    guard let day = number(day, 1...31), let month = months.firstIndex(of: month), var year = number(year, 0...9_999),
      clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2], hour < 24, minute < 60
    else { return nil }
    // Two digits: RFC 9110 asks for the century that is not more than 50 years ahead.
    if year < 100 { year += year < 70 ? 2_000 : 1_900 }
    let seconds = days(year, month + 1, day) * 86_400 + hour * 3_600 + minute * 60 + second
    return Int64(seconds) * 1_000
  }

  private static func number(_ text: some StringProtocol, _ range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), let value = Int(text), range.contains(value) else {
      return nil
    }
    return value
  }

  /// Days from 1970-01-01 in the Gregorian calendar. Years are counted from March, so that the leap day comes last.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let march = month > 2 ? year : year - 1
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return march * 365 + march / 4 - march / 100 + march / 400 + dayOfYear - 719_468
  }
}
