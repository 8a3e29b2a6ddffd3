import Contract
import Testing

/// What `GET /v1/deliveries` may ask.
@Suite struct DeliveriesRequestTests {
  private static func run(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

  private func detail(_ query: String?) -> String? {
    do { _ = try DeliveriesRequest(query: query) } catch { return error.detail }
    return nil
  }

  @Test(arguments: [
    ("notificationEpoch=e&notificationSeq=7", "e", 7),
    ("notificationSeq=0&notificationEpoch=e", "e", 0),
    (
      "notificationEpoch=6b2f4f6e-6a0e-4d8e-8f57-2f8f1f2b9a11&notificationSeq=9007199254740991",
      "6b2f4f6e-6a0e-4d8e-8f57-2f8f1f2b9a11", 9_007_199_254_740_991
    ),
    ("notificationEpoch=a%20b%2Bc%26d%3De%25&notificationSeq=1", "a b+c&d=e%", 1),
    ("notificationEpoch=a+b&notificationSeq=1", "a b", 1),
    ("notificationEpoch=a=b==&notificationSeq=1", "a=b==", 1),
    ("notificationEpoch=?/:@!$'()*,;~&notificationSeq=1", "?/:@!$'()*,;~", 1),
    ("notificationEpoch=%C3%A9%e2%82%ac%F0%9F%90%B3&notificationSeq=1", "é€🐳", 1),
    ("notificationEpoch=%65%CC%81&notificationSeq=%31%32", "e\u{301}", 12),
    ("%6eotificationEpoch=x&notification%53eq=1", "x", 1),
    ("notificationEpoch=\(run("%F0%9F%90%B3", 64))&notificationSeq=1", run("🐳", 64), 1),
  ])
  func `A query names an event by epoch and seq`(query: String, epoch: String, seq: Int) throws {
    let request = try DeliveriesRequest(query: query)
    #expect(request.epoch.utf8.elementsEqual(epoch.utf8))
    #expect(request.seq == Int64(seq))
    #expect(request.kinds == [.alert, .dismiss])
  }

  @Test(arguments: [("alert", Notification.Kind.alert), ("dismiss", .dismiss)])
  func `It may name the kind`(word: String, kind: Notification.Kind) throws {
    #expect(try DeliveriesRequest(query: "kind=\(word)&notificationEpoch=e&notificationSeq=1").kinds == [kind])
  }

  @Test(arguments: [
    (nil, "notificationEpoch is missing"),
    ("", "notificationEpoch is missing"),
    ("notificationSeq=1", "notificationEpoch is missing"),
    ("notificationEpoch=e", "notificationSeq is missing"),
    ("notificationEpoch=e&notificationEpoch=e&notificationSeq=1", "notificationEpoch is given more than once"),
    ("notificationEpoch=e&notificationSeq=1&notificationSeq=1", "notificationSeq is given more than once"),
    ("notificationEpoch=e&notificationSeq=1&kind=alert&kind=dismiss", "kind is given more than once"),
    ("notificationEpoch=e&notificationSeq=1&%6bind=alert&kind=alert", "kind is given more than once"),
    (
      "notificationEpoch=e&notificationSeq=1&secret=1",
      "the query may hold notificationEpoch, notificationSeq and kind and nothing else"
    ),
    (
      "notificationEpoch=e&notificationSeq=1&Kind=alert",
      "the query may hold notificationEpoch, notificationSeq and kind and nothing else"
    ),
    (
      "notificationEpoch=e&notificationSeq=1&=",
      "the query may hold notificationEpoch, notificationSeq and kind and nothing else"
    ),
    (
      "notificationEpoch=&notificationSeq=1",
      "notificationEpoch must have 1 to 128 characters, none of them a control character"
    ),
    (
      "notificationEpoch=a%00&notificationSeq=1",
      "notificationEpoch must have 1 to 128 characters, none of them a control character"
    ),
    (
      "notificationEpoch=a%0A&notificationSeq=1",
      "notificationEpoch must have 1 to 128 characters, none of them a control character"
    ),
    (
      "notificationEpoch=%C2%85&notificationSeq=1",
      "notificationEpoch must have 1 to 128 characters, none of them a control character"
    ),
    (
      "notificationEpoch=\(run("a", 129))&notificationSeq=1",
      "notificationEpoch must have 1 to 128 characters, none of them a control character"
    ),
    (
      "notificationEpoch=\(run("%F0%9F%90%B3", 65))&notificationSeq=1",
      "notificationEpoch must have 1 to 128 characters, none of them a control character"
    ),
    ("notificationEpoch=e&notificationSeq=1&kind=", "kind must be alert or dismiss"),
    ("notificationEpoch=e&notificationSeq=1&kind=Alert", "kind must be alert or dismiss"),
  ])
  func `What is amiss is named`(query: String?, rule: String) {
    #expect(detail(query) == rule)
  }

  @Test(arguments: [
    "", "-1", "+1", "1.0", "1e3", "01", "00", "0x1", " 1", "%201", "9007199254740992", "99999999999999999999", "١",
    "1_0",
    "one",
  ])
  func `A seq is an integer as JSON writes it`(seq: String) {
    let escaped = seq.utf8.allSatisfy { $0 < 0x7f && $0 > 0x20 } ? seq : "%D9%A1"
    #expect(
      detail("notificationEpoch=e&notificationSeq=\(escaped)")
        == "notificationSeq must be an integer from 0 to 9007199254740991")
  }

  @Test(arguments: [
    "notificationEpoch=%", "notificationEpoch=%4", "notificationEpoch=%4g", "notificationEpoch=%zz",
    "notificationEpoch=%ff", "notificationEpoch=%C3", "notificationEpoch=%C0%80", "notificationEpoch=%ED%A0%80",
    "notificationEpoch=%F4%90%80%80", "notificationEpoch=é", "notificationEpoch=a b", "%ff=1",
  ])
  func `An escape that is none and what is not UTF-8 are refused`(part: String) {
    #expect(detail("\(part)&notificationSeq=1") == "the query must be UTF-8, percent-encoded")
  }

  @Test(arguments: ["&", "notificationEpoch", "a=1&", "&a=1", "a=1&&b=2", "notificationEpoch=e&notificationSeq"])
  func `A query is pairs`(query: String) {
    #expect(detail(query) == "the query must be name=value pairs joined by &")
  }
}
