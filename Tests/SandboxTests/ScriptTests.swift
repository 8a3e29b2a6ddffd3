import Http
import Json
import Testing

@testable import sandbox

struct ScriptTests {
  private func book(_ json: String) throws -> ScriptBook {
    let script = try Script(Array(json.utf8))
    var book = ScriptBook()
    for (token, rule) in script.rules { book.add(rule, token: token) }
    for (token, device) in script.devices { book.add(device, token: token) }
    for (environment, value) in script.changes { book.change(environment, value) }
    return book
  }

  private func statuses(_ book: inout ScriptBook, _ token: String, _ count: Int) -> [Int?] {
    (0..<count).map { _ in book.next(.apns, .production, token: token)?.status }
  }

  @Test func `Steps are used up in order, each as often as it says`() throws {
    var book = try book(
      #"{"rules":[{"token":"aa","steps":[{"status":500,"times":2},{"status":429}]}]}"#)
    #expect(statuses(&book, "aa", 5) == [500, 500, 429, nil, nil])
  }

  @Test func `A rule that repeats begins again, and a step for always stays`() throws {
    var book = try book(
      #"""
      {"rules":[{"token":"aa","repeat":true,"steps":[{"status":500},{"status":200}]},
        {"token":"bb","steps":[{"status":503},{"status":410,"times":"always"}]}]}
      """#)
    #expect(statuses(&book, "aa", 5) == [500, 200, 500, 200, 500])
    #expect(statuses(&book, "bb", 4) == [503, 410, 410, 410])
  }

  @Test func `The token's own rule goes before a longer prefix, that before a shorter one, that before any`() throws {
    var book = try book(
      #"""
      {"rules":[{"token":"*","steps":[{"status":501,"times":"always"}]},{"token":"a*","steps":[{"status":502}]},
        {"token":"aa*","steps":[{"status":503}]},{"token":"aab","steps":[{"status":504}]}]}
      """#)
    #expect(statuses(&book, "aab", 5) == [504, 503, 502, 501, 501])
    #expect(statuses(&book, "zz", 1) == [501])
  }

  @Test func `A rule for one provider or environment leaves the others alone`() throws {
    var book = try book(
      #"""
      {"rules":[{"token":"*","provider":"fcm","steps":[{"status":500,"times":"always"}]},
        {"token":"aa","environment":"sandbox","steps":[{"status":503,"times":"always"}]}]}
      """#)
    #expect(book.next(.apns, .production, token: "aa")?.status == nil)
    #expect(book.next(.apns, .sandbox, token: "aa")?.status == 503)
    #expect(book.next(.fcm, nil, token: "aa")?.status == 500)
  }

  @Test func `A rule that names no provider is for pushes, not for access tokens`() throws {
    var book = try book(#"{"rules":[{"steps":[{"status":500,"times":"always"}]}]}"#)
    #expect(book.next(.oauth, nil, token: "")?.status == nil)
    #expect(book.next(.metadata, nil, token: "")?.status == nil)
    #expect(book.next(.fcm, nil, token: "x")?.status == 500)
  }

  @Test func `Settings change what they name and nothing else`() throws {
    let book = try book(
      #"{"apns":{"latencyMs":7},"apnsSandbox":{"wedge":"fail"},"fcm":{"goawayEvery":9,"goawayReason":"Shutdown"}}"#)
    #expect(book.settings(.production).latency == 7)
    #expect(book.settings(.production).wedge == .off)
    #expect(book.settings(.sandbox).latency == 7)
    #expect(book.settings(.sandbox).wedge == .fail)
    #expect(book.settings(nil).goawayEvery == 9)
    #expect(book.settings(nil).goawayReason == "Shutdown")
    #expect(book.settings(nil).maxConcurrentStreams == 100)
  }

  @Test func `A connection begins with one stream at Apple's and a hundred at Google's, or as a script says`() throws {
    var book = try book("{}")
    #expect([ApnsEnvironment.production, .sandbox, nil].map { book.settings($0).firstStreamLimit } == [1, 1, 100])
    book = try self.book(#"{"apnsSandbox":{"firstStreamLimit":7},"fcm":{"firstStreamLimit":1,"goawayKeepsOpen":true}}"#)
    #expect([ApnsEnvironment.production, .sandbox, nil].map { book.settings($0).firstStreamLimit } == [1, 7, 1])
    #expect(book.settings(nil).goawayKeepsOpen && !book.settings(.sandbox).goawayKeepsOpen)
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (951_827_696, "Tue, 29 Feb 2000 12:34:56 GMT"), (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"),
  ])
  func `A date field is written as HTTP has it`(seconds: Int64, text: String) {
    #expect(DateField.text(seconds: seconds) == text)
  }

  @Test func `A step is read whole`() throws {
    let script = try Script(
      Array(
        #"""
        {"rules":[{"token":"t","steps":[{"status":429,"reason":"X","body":{"a":1},"headers":{"Retry-After":"7"},
          "delayMs":5,"action":"goaway-after","maxConcurrentStreams":3,"timestamp":9,"deliver":true,"times":4}]}]}
        """#.utf8))
    let step = try #require(script.rules.first?.rule.steps.first)
    #expect(step.status == 429 && step.reason == "X" && step.delay == 5 && step.action == .goawayAfter)
    #expect(step.body.map { String(decoding: $0, as: UTF8.self) } == #"{"a":1}"#)
    #expect(step.headers["retry-after"] == "7")
    #expect(step.maxConcurrentStreams == 3 && step.timestamp == 9 && step.isDelivered && step.times == 4)
  }

  @Test(arguments: [
    ("", "the script is not JSON"),
    ("[]", "script must be an object"),
    (#"{"rule":[]}"#, "script has no member rule"),
    (#"{"rules":[{"token":"a","steps":[]}]}"#, "rules[].steps must hold a step"),
    (#"{"rules":[{"token":"a","steps":[{"reasn":"X"}]}]}"#, "steps[] has no member reasn"),
    (#"{"rules":[{"token":"a","steps":[{"action":"explode"}]}]}"#, "steps[].action must be one of reply, hang"),
    (#"{"rules":[{"token":"a","steps":[{"times":0}]}]}"#, "steps[].times must be"),
    (#"{"rules":[{"token":"a","steps":[{"status":99}]}]}"#, "steps[].status must be an integer from 200 to 599"),
    (#"{"rules":[{"token":"a","steps":[{"action":"settings"}]}]}"#, "lacks maxConcurrentStreams"),
    (#"{"rules":[{"provider":"wns","steps":[{}]}]}"#, "rules[].provider must be one of apns, fcm"),
    (#"{"devices":[{"environment":"sandbox"}]}"#, "devices[].token is missing"),
    (#"{"keys":[{"keyId":"A","publicKey":"x"}]}"#, "keys[] must hold keyId and publicKey"),
    (#"{"requireKey":{"afterMs":1}}"#, "requireKey.keyId is missing"),
    (#"{"serviceKeys":[{"keyId":"A","publicKey":"x"}]}"#, "serviceKeys[] must hold keyId and publicKey"),
    (#"{"requireServiceKey":{}}"#, "requireServiceKey.keyId is missing"),
    (#"{"fcm":{"firstStreamLimit":-1}}"#, "fcm.firstStreamLimit must be an integer"),
    (#"{"apns":{"goawayKeepsOpen":1}}"#, "apns.goawayKeepsOpen must be true or false"),
    (#"{"fcm":{"latencyMs":-1}}"#, "fcm.latencyMs must be an integer"),
    (#"{"accessTokenLifetime":"x"}"#, "script.accessTokenLifetime must be an integer"),
  ])
  func `A script with a fault is refused, and the fault is named`(json: String, fault: String) {
    let error = #expect(throws: ScriptFault.self) { try Script(Array(json.utf8)) }
    #expect(error?.detail.contains(fault) == true, "\(error?.detail ?? "")")
  }
}
