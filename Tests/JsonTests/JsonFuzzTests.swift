import Json
import Testing

/// The property that holds for any bytes, for tests and for a fuzzer: they are read or refused at a place within them,
/// and what is read can be written and read again without loss. Gives what is wrong, or nil; never traps.
func fuzzJson(_ bytes: [UInt8]) -> String? {
  let value: JsonValue
  do {
    value = try JsonReader.read(bytes)
  } catch {
    return (0...bytes.count).contains(error.offset) ? nil : "fault outside of the document: \(error)"
  }
  let text = JsonText.render(value)
  guard let again = try? JsonReader.read(text) else { return "the text written was refused" }
  guard same(value, again) else { return "the text written says something else" }
  return JsonText.render(again) == text ? nil : "the text changed when written again"
}

/// Equality save for numbers without a fraction, which are written like integers (as JavaScript does) and read back so.
private func same(_ first: JsonValue, _ second: JsonValue) -> Bool {
  switch (first, second) {
  case (.number(let number), .integer(let integer)):
    return number == Double(integer)
  case (.array(let first), .array(let second)):
    return first.count == second.count && zip(first, second).allSatisfy { same($0, $1) }
  case (.object(let first), .object(let second)):
    return first.count == second.count
      && zip(first.members, second.members).allSatisfy {
        Array($0.key.utf8) == Array($1.key.utf8) && same($0.value, $1.value)
      }
  default: return first == second
  }
}

@Suite struct JsonFuzzTests {
  static let body = Array(
    #"""
    {"v":1, "hostFingerprint":"9f86d081884c7d659a2feaa0c55ad015", "registrationIds":["3b241101-e2bb","7c9e6679"],
     "notification":{"kind":"alert","title":"Agent needs input – “main”","body":"Line\n\"quoted\" \ud83d\ude00 é",
     "seq":184467440737, "sound":true, "worktreeId":null, "ratio":[0.5,-1.25e-3,1e21,-0]}, "unread":{"":[[],{}]}}
    """#.utf8)

  @Test("A body cut anywhere is refused")
  func cuts() {
    #expect(fuzzJson(Self.body) == nil)
    #expect(throws: Never.self) { try JsonReader.read(Self.body) }
    for length in 0..<Self.body.count {
      let cut = Array(Self.body.prefix(length))
      #expect(throws: JsonFault.self) { try JsonReader.read(cut) }
      #expect(fuzzJson(cut) == nil)
    }
  }

  @Test("Any byte put in any place of a body is read or refused soundly")
  func flips() {
    var bytes = Self.body
    for place in bytes.indices {
      for byte in UInt8.min...UInt8.max {
        bytes[place] = byte
        let finding = fuzzJson(bytes)
        if finding != nil { Issue.record("byte \(byte) at \(place): \(finding ?? "")") }
      }
      bytes[place] = Self.body[place]
    }
    #expect(bytes == Self.body)
  }

  @Test("Random documents, whole and damaged, are read or refused soundly", arguments: 1...8 as ClosedRange<UInt64>)
  func documents(seed: UInt64) {
    var documents = Documents(seed: seed)
    var read = 0
    for _ in 0..<500 {
      let whole = documents.document()
      for bytes in [whole, documents.damaged(whole)] {
        #expect(fuzzJson(bytes) == nil, "\(String(decoding: bytes, as: UTF8.self))")
        if (try? JsonReader.read(bytes)) != nil { read += 1 }
      }
    }
    #expect(200..<900 ~= read)
  }

  @Test("Random bytes are read or refused soundly")
  func noise() {
    var bits = SeededBits(seed: 99)
    for length in 0..<300 {
      let bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: bits.next()) }
      #expect(fuzzJson(bytes) == nil)
    }
  }
}
