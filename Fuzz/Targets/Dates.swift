import CTime
import Glibc

@testable import Providers

/// HTTP dates, and Retry-After: a date that the C library writes is read as the same time; one that both read, they read
/// alike; and no wait is longer than a day.
enum Dates: Target {
  private static let now: Int64 = 1_796_032_800_000
  private static let form = "%a, %d %b %Y %H:%M:%S GMT"

  static func run(_ bytes: [UInt8]) {
    if let wait = RetryAfter.wait(bytes.text, now: now) { require((0...86_400_000).contains(wait), "\(wait) ms") }
    let ours = HttpDate.parse(bytes.text)
    if let theirs = read(bytes), let ours { require(ours == theirs * 1_000, "\(ours) ms, \(theirs) s") }

    // 1970 to 2105, well within the four digits of a year.
    let seconds = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let written = write(seconds)
    require(HttpDate.parse(written) == Int64(seconds) * 1_000, "\(written) is \(seconds)")
  }

  /// Seconds since 1970, for a date that is wholly of the first form and is one.
  private static func read(_ bytes: [UInt8]) -> Int64? {
    guard bytes.count == 29, !bytes.contains(0) else { return nil }
    var parts = tm()
    guard let end = strptime(bytes.text, form, &parts), end.pointee == 0 else { return nil }
    let (day, second) = (parts.tm_mday, parts.tm_sec)
    let time = timegm(&parts)
    // The C library counts on from the 31st of a short month, and so do we; a leap second it moves.
    guard parts.tm_mday == day, parts.tm_sec == second else { return nil }
    return Int64(time)
  }

  private static func write(_ seconds: Int) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, form, &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
