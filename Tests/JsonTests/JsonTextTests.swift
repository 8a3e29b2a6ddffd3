import Json
import Testing

@Suite struct JsonTextTests {
  private func written(_ write: (inout JsonText) -> Void) -> String {
    var text = JsonText()
    write(&text)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  @Test("Members, elements and nesting are separated as JSON.stringify separates them")
  func structure() {
    let text = written {
      $0.object {
        $0.object("aps") {
          $0.object("alert") {
            $0.member("title", "Title")
            $0.member("body", "Body")
          }
          $0.member("mutable-content", 1)
        }
        $0.object("none") { _ in }
        $0.array("empty") { _ in }
        $0.array("mixed") {
          $0.string("a")
          $0.integer(-1)
          $0.bool(true)
          $0.null()
          $0.array { $0.array { _ in } }
          $0.object { $0.member("last", false) }
          $0.number(0.5)
        }
        $0.member("seq", Int64.max)
        $0.member("absent", ifPresent: nil)
        $0.member("present", ifPresent: "yes")
        $0.member("rendered", raw: Array("{\"x\":[1]}".utf8))
        $0.member("value", .array([.null, .object(["k": .string("v")])]))
        $0.key("after")
        $0.raw(Array("[]".utf8))
      }
    }
    #expect(
      text == """
        {"aps":{"alert":{"title":"Title","body":"Body"},"mutable-content":1},"none":{},"empty":[],\
        "mixed":["a",-1,true,null,[[]],{"last":false},0.5],"seq":9223372036854775807,"present":"yes",\
        "rendered":{"x":[1]},"value":[null,{"k":"v"}],"after":[]}
        """)
  }

  @Test("The text of a collapse id is written without spaces")
  func collapseIdText() {
    let text = written {
      $0.array {
        $0.string("9f86");
        $0.array {
          $0.string("epoch"); $0.integer(12)
        }
      }
    }
    #expect(text == "[\"9f86\",[\"epoch\",12]]")
  }

  static let strings: [(String, String)] = [
    ("", ""), ("plain", "plain"), ("\"", "\\\""), ("\\", "\\\\"), ("/", "/"), ("a\"b\\c", "a\\\"b\\\\c"),
    ("\u{8}\t\n\u{c}\r", "\\b\\t\\n\\f\\r"), ("\0\u{1}\u{b}\u{e}\u{f}", "\\u0000\\u0001\\u000b\\u000e\\u000f"),
    ("\u{10}\u{19}\u{1a}\u{1f} ", "\\u0010\\u0019\\u001a\\u001f "), ("\u{7f}\u{80}\u{9f}", "\u{7f}\u{80}\u{9f}"),
    ("é€😀\u{2028}\u{2029}\u{feff}", "é€😀\u{2028}\u{2029}\u{feff}"), ("<&>'", "<&>'"), ("e\u{301}\n", "e\u{301}\\n"),
  ]

  @Test("Only quotes, backslashes and control characters are escaped", arguments: strings)
  func escapes(string: String, literal: String) throws {
    #expect(JsonText.string(string) == Array("\"\(literal)\"".utf8))
    #expect(JsonText.render(["": .string(string)]) == Array("{\"\":\"\(literal)\"}".utf8))
    #expect(JsonText.render([string: .null]) == Array("{\"\(literal)\":null}".utf8))
    #expect(try JsonReader.read(JsonText.string(string)) == .string(string))
  }

  @Test(
    "Integers are exact",
    arguments: [
      Int64.min, -9_007_199_254_740_993, -10, -9, -1, 0, 1, 9, 10, 11, 99, 100, 101, 999_999_999_999_999_999,
      1_000_000_000_000_000_000, .max,
    ])
  func writesIntegers(integer: Int64) {
    #expect(JsonText.render(.integer(integer)) == Array("\(integer)".utf8))
  }

  // What JSON.stringify gives.
  static let numbers: [(Double, String)] = [
    (0, "0"), (-0.0, "0"), (1, "1"), (-1, "-1"), (100, "100"), (0.1, "0.1"), (-123.456, "-123.456"), (1.5, "1.5"),
    (0.000001, "0.000001"), (0.00000123, "0.00000123"), (1e-7, "1e-7"), (-1.5e-10, "-1.5e-10"),
    (.leastNonzeroMagnitude, "5e-324"),
    (1.7976931348623157e308, "1.7976931348623157e+308"), (1e16, "10000000000000000"), (1e20, "100000000000000000000"),
    (123456789012345683968, "123456789012345680000"), (1e21, "1e+21"), (1.2e21, "1.2e+21"), (1e300, "1e+300"),
    (9007199254740992, "9007199254740992"), (1_152_921_504_606_846_976, "1152921504606847000"),
    (0.1 + 0.2, "0.30000000000000004"),
    (1e-5, "0.00001"), (12345678.9, "12345678.9"), (.infinity, "null"), (-.infinity, "null"), (.nan, "null"),
  ]

  @Test("Numbers are laid out as ECMAScript lays them out", arguments: numbers)
  func laysOutNumbers(number: Double, text: String) {
    #expect(String(decoding: JsonText.render(.number(number)), as: UTF8.self) == text)
  }
}
