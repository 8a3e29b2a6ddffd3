import Testing

@testable import Providers

@Suite("Retry-After and HTTP dates")
struct RetryAfterTests {
  /// 1994-11-06 08:49:37 UTC, the date of RFC 9110.
  private let date: Int64 = 784_111_777_000

  @Test(
    "All three forms of a date are read",
    arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
  func forms(_ text: String) {
    #expect(HttpDate.parse(text) == date)
  }

  @Test(
    "Days are counted across leap years",
    arguments: [
      ("Thu, 01 Jan 1970 00:00:00 GMT", Int64(0)), ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799_000),
      ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800_000), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400_000),
      ("Mon, 30 Nov 2026 10:00:00 GMT", 1_796_032_800_000),
    ])
  func days(_ text: String, _ ms: Int64) {
    #expect(HttpDate.parse(text) == ms)
  }

  @Test(
    "Anything else is no date",
    arguments: [
      "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Now 1994 08:49:37 GMT",
      "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49 GMT",
      "Sun, +6 Nov 1994 08:49:37 GMT", String(repeating: "9 ", count: 1_000),
    ])
  func refused(_ text: String) {
    #expect(HttpDate.parse(text) == nil)
  }

  @Test("Seconds and dates become a wait that is never shortened")
  func waits() {
    #expect(RetryAfter.wait("7", now: date) == 7_000)
    #expect(RetryAfter.wait(" 0 ", now: date) == 0)
    #expect(RetryAfter.wait("Sun, 06 Nov 1994 08:49:37 GMT", now: date - 6_500) == 6_500)
    #expect(RetryAfter.wait("Sun, 06 Nov 1994 08:49:37 GMT", now: date + 1) == 0)
    #expect(RetryAfter.wait("99999999999999999999999", now: date) == RetryAfter.longest)
    #expect(RetryAfter.wait("9223372036854775807", now: date) == RetryAfter.longest)
    for text in ["", "-1", "1.5", "soon", "٣"] { #expect(RetryAfter.wait(text, now: date) == nil) }
  }
}
