/// The `date` field of an answer (RFC 9110 5.6.7).
enum DateField {
  private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// `Sun, 06 Nov 1994 08:49:37 GMT` for seconds since 1970; times before count as 1970.
  static func text(seconds: Int64) -> String {
    let time = Int(max(0, seconds))
    var days = time / 86_400
    let weekday = weekdays[days % 7]
    var year = 1970
    while days >= length(ofYear: year) {
      days -= length(ofYear: year)
      year += 1
    }
    var month = 0
    while days >= length(ofMonth: month, year) {
      days -= length(ofMonth: month, year)
      month += 1
    }
    let clock = [time / 3_600 % 24, time / 60 % 60, time % 60].map(padded).joined(separator: ":")
    return "\(weekday), \(padded(days + 1)) \(months[month]) \(year) \(clock) GMT"
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
  private static func length(ofYear year: Int) -> Int { isLeap(year) ? 366 : 365 }
  private static func length(ofMonth month: Int, _ year: Int) -> Int {
    month == 1 && isLeap(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
  }
  private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
