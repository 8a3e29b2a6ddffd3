/// Times as text (RFC 3339), in UTC.
package enum Rfc3339 {
  /// `2026-01-31T23:59:59.123Z` for milliseconds since 1970, which must be of the years 0 to 9999.
  package static func text(milliseconds: Int64) -> String {
    let (days, rest) = floored(milliseconds, by: 86_400_000)
    let (year, month, day) = date(days: days)
    let second = rest / 1000
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + "T" + padded(second / 3600, 2) + ":"
      + padded(second / 60 % 60, 2) + ":" + padded(second % 60, 2) + "." + padded(rest % 1000, 3) + "Z"
  }

  /// The date that lies `days` after 1970-01-01, by years that begin in March, so that a leap day comes last.
  private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = floored(days + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  private static func floored(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
