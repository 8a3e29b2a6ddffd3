/// The `Retry-After` header (RFC 9110, 10.2.3).
enum RetryAfter {
  /// Longer waits are taken for this one: a day, in ms. Every delivery's deadline comes before.
  static let longest: Int64 = 86_400_000

  /// Milliseconds to wait from `now` (Unix ms); nil for a value that is neither seconds nor a date.
  static func wait(_ value: String, now: Int64) -> Int64? {
    let text = value.filter { $0 != " " && $0 != "\t" }
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
      // Digits that no integer holds are a very long wait.
      return Int64(text).map { min($0, longest / 1_000) * 1_000 } ?? longest
    }
    guard let date = HttpDate.parse(value) else { return nil }
    return min(longest, max(0, date - now))
  }
}
