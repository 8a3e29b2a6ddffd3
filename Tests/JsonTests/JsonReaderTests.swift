package import Json
import Testing

@Suite struct JsonReaderTests {
  static let valid: [(String, JsonValue)] = [
    ("null", .null), ("true", .bool(true)), (" \t\r\n false \t\r\n ", .bool(false)),
    ("{}", [:]), ("[]", .array([])), ("{ }", [:]), ("[ \n]", .array([])), ("\"\"", .string("")),
    ("[null,true,[],{}]", .array([.null, .bool(true), .array([]), [:]])),
    ("{\"a\":1,\"b\":{\"a\":2}}", ["a": .integer(1), "b": ["a": .integer(2)]]),
    ("{\"\":0}", ["": .integer(0)]), ("{ \"a\" : [ 1 , 2 ] }", ["a": .array([.integer(1), .integer(2)])]),
    ("0", .integer(0)), ("-0", .integer(0)), ("-1", .integer(-1)), ("10", .integer(10)), ("-10", .integer(-10)),
    ("9007199254740993", .integer(9_007_199_254_740_993)),
    ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("9223372036854775808", .number(9_223_372_036_854_775_808)),
    ("-9223372036854775809", .number(-9_223_372_036_854_775_808)),
    ("18446744073709551617", .number(18_446_744_073_709_551_616)),
    ("100000000000000000000000", .number(1e23)),
    ("1.0", .number(1)), ("1e0", .number(1)), ("1E+2", .number(100)), ("-1.5e-2", .number(-0.015)),
    ("0.0", .number(0)), ("0e0", .number(0)), ("0E+0", .number(0)), ("1e00", .number(1)), ("1.00", .number(1)),
    ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)), ("5e-324", .number(.leastNonzeroMagnitude)),
    ("1e-400", .number(0)), ("0e99999999999999999999", .number(0)), ("1e-99999999999999999999", .number(0)),
    ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", .string("\"\\/\u{8}\u{c}\n\r\t")),
    ("\"\\u0041\\u00e9\\u20AC\\uD83d\\uDe00\"", .string("Aé€😀")),
    ("\"\\u0000\"", .string("\0")), ("\"\\uffff\\ufeff\"", .string("\u{ffff}\u{feff}")),
    ("\"\\ud800\\udc00\\udbff\\udfff\"", .string("\u{10000}\u{10ffff}")),
    ("\"a\u{7f}\u{80}\u{2028}é€😀\"", .string("a\u{7f}\u{80}\u{2028}é€😀")),
    ("\"/ // /* */ ' \"", .string("/ // /* */ ' ")),
    ("\"é\\n\\u00e9\"", .string("é\né")),
    ("{\"\\u0061\":1,\"A\":2}", ["a": .integer(1), "A": .integer(2)]),
    ("{\"é\":1,\"e\u{301}\":2}", ["é": .integer(1), "e\u{301}": .integer(2)]),
  ]

  @Test("A document of the grammar is read as what it says", arguments: valid)
  func reads(document: String, value: JsonValue) throws {
    #expect(try JsonReader.read(Array(document.utf8)) == value)
  }

  static let invalid: [(String, JsonFault.Reason, Int)] = [
    ("", .valueExpected, 0), ("  ", .valueExpected, 2), ("\u{feff}{}", .valueExpected, 0),
    ("{}\u{feff}", .trailingBytes, 2), ("\0", .valueExpected, 0), ("1\0", .trailingBytes, 1),
    ("{}x", .trailingBytes, 2), ("{} {}", .trailingBytes, 3), ("1 2", .trailingBytes, 2), ("[]]", .trailingBytes, 2),
    ("null,", .trailingBytes, 4), ("\"a\"\"b\"", .trailingBytes, 3), ("truex", .trailingBytes, 4),
    ("{\"v\":1e0}x", .trailingBytes, 9),
    ("nul", .valueExpected, 3), ("True", .valueExpected, 0), ("tru e", .valueExpected, 3),
    ("undefined", .valueExpected, 0),
    ("NaN", .valueExpected, 0), ("Infinity", .valueExpected, 0), ("-Infinity", .badNumber, 1), ("-NaN", .badNumber, 1),
    ("nan", .valueExpected, 1), ("'a'", .valueExpected, 0), ("a", .valueExpected, 0), ("\u{a0}1", .valueExpected, 0),
    ("1\u{c}", .trailingBytes, 1), ("\u{b}1", .valueExpected, 0), ("\u{2028}1", .valueExpected, 0),
    ("// a\n1", .valueExpected, 0), ("/* a */1", .valueExpected, 0), ("1/* a */", .trailingBytes, 1),
    ("[1,/**/2]", .valueExpected, 3), ("# a\n1", .valueExpected, 0),
    ("]", .valueExpected, 0), ("}", .valueExpected, 0), (",", .valueExpected, 0), (":", .valueExpected, 0),
    ("[", .valueExpected, 1), ("[1", .commaExpected, 2), ("[1,", .valueExpected, 3), ("[1,]", .valueExpected, 3),
    ("[,1]", .valueExpected, 1), ("[,]", .valueExpected, 1), ("[1,,2]", .valueExpected, 3),
    ("[1 2]", .commaExpected, 3),
    ("[1}", .commaExpected, 2), ("[1:2]", .commaExpected, 2), ("[\"a\":1]", .commaExpected, 4),
    ("{", .keyExpected, 1), ("{1:1}", .keyExpected, 1), ("{a:1}", .keyExpected, 1), ("{'v':1}", .keyExpected, 1),
    ("{null:1}", .keyExpected, 1), ("{,}", .keyExpected, 1), ("{]", .keyExpected, 1), ("{\"a\":1,}", .keyExpected, 7),
    ("{\"a\":1,,\"b\":2}", .keyExpected, 7), ("{\"a\"", .colonExpected, 4), ("{\"a\"}", .colonExpected, 4),
    ("{\"a\",1}", .colonExpected, 4), ("{\"a\" 1}", .colonExpected, 5), ("{\"a\"=1}", .colonExpected, 4),
    ("{\"a\":}", .valueExpected, 5), ("{\"a\"::1}", .valueExpected, 5), ("{\"a\":1", .commaExpected, 6),
    ("{\"a\":1]", .commaExpected, 6), ("{\"a\":1 \"b\":2}", .commaExpected, 7),
    ("{\"a\":1;\"b\":2}", .commaExpected, 6),
    ("-", .badNumber, 1), ("+1", .valueExpected, 0), ("--1", .badNumber, 1), ("- 1", .badNumber, 1),
    ("01", .badNumber, 2), ("-01", .badNumber, 3), ("00", .badNumber, 2), ("{\"v\":01}", .badNumber, 7),
    ("00.5", .badNumber, 2), ("1.", .badNumber, 2), (".5", .valueExpected, 0), ("-.5", .badNumber, 1),
    ("1.e1", .badNumber, 2), ("1e", .badNumber, 2), ("1e+", .badNumber, 3), ("1e-", .badNumber, 3),
    ("1E", .badNumber, 2),
    ("1e+-1", .badNumber, 3), ("1e1.5", .trailingBytes, 3), ("1.5.5", .trailingBytes, 3), ("1e1e1", .trailingBytes, 3),
    ("0x10", .trailingBytes, 1), ("1_000", .trailingBytes, 1), ("1f", .trailingBytes, 1), ("1n", .trailingBytes, 1),
    ("１", .valueExpected, 0), ("1１", .trailingBytes, 1), ("[1.5,2.]", .badNumber, 7),
    ("1e400", .numberOutOfRange, 0), ("[-1e309]", .numberOutOfRange, 1),
    ("1e99999999999999999999", .numberOutOfRange, 0),
    (String(repeating: "9", count: 400), .numberOutOfRange, 0),
    ("\"", .unterminatedString, 1), ("\"a", .unterminatedString, 2), ("\"\\n", .unterminatedString, 3),
    ("\"\\\"", .unterminatedString, 3), ("\"\\", .badEscape, 2), ("\"\\a\"", .badEscape, 2), ("\"\\'\"", .badEscape, 2),
    ("\"\\x41\"", .badEscape, 2), ("\"\\U0041\"", .badEscape, 2), ("\"\\0\"", .badEscape, 2),
    ("\"\\\u{e9}\"", .badEscape, 2),
    ("\"\\u\"", .badEscape, 3), ("\"\\u004", .badEscape, 6), ("\"\\u004\"", .badEscape, 6),
    ("\"\\u00g0\"", .badEscape, 5),
    ("\"\\u+041\"", .badEscape, 3), ("\"\\u 041\"", .badEscape, 3), ("\"\\u{41}\"", .badEscape, 3),
    ("\"\\ud800\"", .loneSurrogate, 7), ("\"\\udc00\"", .loneSurrogate, 7), ("\"\\ud800x\"", .loneSurrogate, 7),
    ("\"\\ud800\\n\"", .loneSurrogate, 8), ("\"\\ud800\\u0041\"", .loneSurrogate, 13),
    ("\"\\ud83d\\ud83d\"", .loneSurrogate, 13),
    ("\"\\udc00\\ud800\"", .loneSurrogate, 7), ("\"\\ud800\\u12\"", .badEscape, 11), ("\"\\ud800\\", .loneSurrogate, 8),
    ("\"\u{0}\"", .controlCharacter, 1), ("\"a\u{1f}\"", .controlCharacter, 2), ("\"\n\"", .controlCharacter, 1),
    ("\"\\n\t\"", .controlCharacter, 3), ("{\"\t\":1}", .controlCharacter, 2),
    ("{\"v\":1,\"v\":1}", .duplicateKey, 7), ("{\"v\":1,\"\\u0076\":2}", .duplicateKey, 7),
    ("{\"é\":1,\"\\u00e9\":2}", .duplicateKey, 8), ("{\"\":1,\"\":1}", .duplicateKey, 6),
    ("[{\"a\":{\"b\":1,\"c\":2,\"b\":3}}]", .duplicateKey, 19), ("{\"a\":1,\"b\":1,\"a\"", .duplicateKey, 13),
  ]

  @Test("Anything else is refused, with the rule and the place", arguments: invalid)
  func refuses(document: String, reason: JsonFault.Reason, offset: Int) {
    #expect(throws: JsonFault(reason: reason, offset: offset)) { try JsonReader.read(Array(document.utf8)) }
  }

  static let notUtf8: [[UInt8]] = [
    [0x80], [0xbf], [0xff], [0xfe], [0xc0, 0x80], [0xc0, 0xaf], [0xc1, 0xbf],  // stray, never valid, overlong
    [0xe0, 0x80, 0x80], [0xe0, 0x9f, 0xbf], [0xf0, 0x80, 0x80, 0x80], [0xf0, 0x8f, 0xbf, 0xbf],  // overlong
    [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],  // surrogates
    [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80],  // beyond U+10FFFF
    [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xc3, 0x41], [0xe2, 0x82, 0x41], [0xe9],  // truncated, Latin-1
  ]

  @Test("A string that is not UTF-8 is refused wherever it stands", arguments: notUtf8)
  func refusesBadUtf8(bytes: [UInt8]) {
    for (before, after) in [
      ("\"", "\""), ("\"\\n", "\""), ("\"", "\\n\""), ("\"\\u00e9", "\\u0080\""), ("{\"", "\":1}"),
      ("{\"a\":1,\"unread\":[{\"b\":\"", "\"}]}"),
    ] {
      let document = Array(before.utf8) + bytes + Array(after.utf8)
      let fault = #expect(throws: JsonFault.self) { try JsonReader.read(document) }
      #expect(fault?.reason == .invalidUtf8)
    }
    #expect(throws: JsonFault.self) { try JsonReader.read(bytes) }
    #expect(throws: JsonFault.self) { try JsonReader.read(bytes + Array("{}".utf8)) }
    #expect(throws: JsonFault.self) { try JsonReader.read(Array("{}".utf8) + bytes) }
  }

  @Test(
    "A document in UTF-16 or UTF-32 is refused",
    arguments: [[0x31, 0], [0, 0x31], [0xff, 0xfe, 0x31, 0], [0, 0, 0, 0x31]])
  func refusesWideEncodings(bytes: [UInt8]) {
    #expect(throws: JsonFault.self) { try JsonReader.read(bytes) }
  }

  @Test(
    "Arrays and objects nest to the bound and no further",
    arguments: [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")])
  func boundsDepth(open: String, close: String) throws {
    func nested(_ times: Int) -> [UInt8] {
      Array((String(repeating: open, count: times) + "1" + String(repeating: close, count: times)).utf8)
    }
    let levels = open.utf8.filter { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }.count
    #expect(throws: Never.self) { try JsonReader.read(nested(16 / levels)) }
    let fault = #expect(throws: JsonFault.self) { try JsonReader.read(nested(16 / levels + 1)) }
    #expect(fault?.reason == .tooDeep)
    #expect(throws: Never.self) { try JsonReader.read(nested(2), maxDepth: 2 * levels) }
    #expect(throws: JsonFault.self) { try JsonReader.read(nested(2), maxDepth: 2 * levels - 1) }
  }

  @Test("A long run of opening brackets is refused at the bound", arguments: ["[", "{\"a\":", "[[{\"\":"])
  func refusesBracketFloods(open: String) {
    let fault = #expect(throws: JsonFault.self) {
      try JsonReader.read(Array(String(repeating: open, count: 100_000).utf8))
    }
    #expect(fault?.reason == .tooDeep)
  }

  @Test("Depth zero leaves only what is neither array nor object")
  func depthZero() {
    #expect(throws: Never.self) { try JsonReader.read(Array("1".utf8), maxDepth: 0) }
    #expect(throws: JsonFault(reason: .tooDeep, offset: 0)) { try JsonReader.read(Array("[]".utf8), maxDepth: 0) }
  }

  @Test("Members and elements are counted for each object and array alone")
  func boundsMembers() throws {
    func object(_ count: Int) -> [UInt8] { JsonText.render(.object(numbered(0..<count))) }
    func array(_ count: Int) -> [UInt8] { JsonText.render(.array(Array(repeating: .null, count: count))) }
    #expect(try JsonReader.read(object(1000)).object?.count == 1000)
    #expect(try JsonReader.read(array(1000)).array?.count == 1000)
    for document in [object(1001), array(1001)] {
      let fault = #expect(throws: JsonFault.self) { try JsonReader.read(document) }
      #expect(fault?.reason == .tooManyMembers)
    }
    #expect(throws: Never.self) { try JsonReader.read(Array("[[1,2],[3,4]]".utf8), maxMembers: 2) }
    #expect(throws: JsonFault.self) { try JsonReader.read(Array("[[1,2],[3,4,5]]".utf8), maxMembers: 2) }
    #expect(throws: Never.self) { try JsonReader.read(Array("[{},[]]".utf8), maxMembers: 2) }
  }

  @Test(
    "A repeated key is found in large objects too, and only a key of the same bytes repeats",
    arguments: [2, 15, 16, 17, 500])
  func findsRepeatsAmongMany(count: Int) throws {
    let members = numbered(0..<count).members + [("é", .null)]
    #expect(
      try JsonReader.read(JsonText.render(.object(JsonObject(members + [("e\u{301}", .null)])))).object?.count == count
        + 2)
    for repeated in ["0", "\(count / 2)", "\(count - 1)", "é"] {
      let fault = #expect(throws: JsonFault.self) {
        try JsonReader.read(JsonText.render(.object(JsonObject(members + [(repeated, .null)]))))
      }
      #expect(fault?.reason == .duplicateKey)
    }
  }

  @Test("Borrowed bytes are read like an array of them")
  func readsSpans() throws {
    let bytes = Array("xx[1]xx".utf8)
    #expect(try JsonReader.read(bytes.span.extracting(2..<5)) == .array([.integer(1)]))
  }

  @Test("A fault tells the rule and the place and nothing of the document")
  func describesFaults() {
    let fault = #expect(throws: JsonFault.self) { try JsonReader.read(Array("{\"secret\":secret}".utf8)) }
    #expect(fault.map { "\($0)" } == "a value is expected (byte 10)")
  }

  private func numbered(_ range: Range<Int>) -> JsonObject {
    JsonObject(range.map { ("\($0)", .integer(Int64($0))) })
  }
}

extension JsonValue: ExpressibleByDictionaryLiteral {
  /// An object, so that the tables read like JSON.
  package init(dictionaryLiteral elements: (String, JsonValue)...) {
    self = .object(JsonObject(elements.map { (key: $0.0, value: $0.1) }))
  }
}
