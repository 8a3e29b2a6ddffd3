import Foundation
import Json
import Testing

/// Python's `json` module, made strict by `reference.py`, is the second opinion. Deliberate differences: none in what
/// is compared; the script adds the rules that Python leaves out (repeated keys, NaN, infinite numbers, lone
/// surrogates, the bounds on depth and members), each of which it lists.
@Suite struct PythonJsonTests {
  @Test("Python's json agrees on what is a document, on its value and on its text")
  func agreement() throws {
    var documents = Documents(seed: 2026)
    var cases: [[UInt8]] =
      JsonReaderTests.valid.map { Array($0.0.utf8) } + JsonReaderTests.invalid.map { Array($0.0.utf8) }
    cases += JsonReaderTests.notUtf8.map { [UInt8(ascii: "\"")] + $0 + [UInt8(ascii: "\"")] }
    for _ in 0..<1500 {
      let whole = documents.document()
      cases += [whole, documents.damaged(whole)]
    }

    let answers = try askPython(cases)
    try #require(answers.count == cases.count)
    var read = 0
    for (bytes, answer) in zip(cases, answers) {
      let ours: String
      if let value = try? JsonReader.read(bytes) {
        read += 1
        // Python writes a Double in a way of its own, so texts are compared where there is none.
        ours = notation(value) + " " + (hasNumber(value) ? "-" : hex(JsonText.render(value)))
      } else {
        ours = "refused"
      }
      #expect(ours == answer, "\(String(decoding: bytes, as: UTF8.self))")
    }
    #expect(read > 1000)
    #expect(cases.count - read > 1000)
  }

  private func askPython(_ documents: [[UInt8]]) throws -> [String] {
    let questions = FileManager.default.temporaryDirectory.appending(path: "json-\(UUID().uuidString).hex")
    try Data(documents.map { hex($0) + "\n" }.joined().utf8).write(to: questions)
    defer { try? FileManager.default.removeItem(at: questions) }
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "reference.py")

    let python = Process()
    python.executableURL = URL(filePath: "/usr/bin/env")
    python.arguments = ["python3", script.path]
    python.standardInput = try FileHandle(forReadingFrom: questions)
    let output = Pipe()
    python.standardOutput = output
    try python.run()
    let answers = try output.fileHandleForReading.readToEnd() ?? Data()
    python.waitUntilExit()
    try #require(
      python.terminationStatus == 0,
      "python3 must be installed for this test: `env python3 reference.py` ended with \(python.terminationStatus)")
    return String(decoding: answers, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The value in a notation that leaves nothing open; reference.py has the same.
  private func notation(_ value: JsonValue) -> String {
    switch value {
    case .null: "n"
    case .bool(let bool): bool ? "t" : "f"
    case .integer(let integer): "i\(integer)"
    case .number(let number):
      "d" + hex((0..<8).reversed().map { UInt8(truncatingIfNeeded: number.bitPattern >> ($0 * 8)) })
    case .string(let string): "s" + hex(Array(string.utf8))
    case .array(let elements): "[" + elements.map { notation($0) + "," }.joined() + "]"
    case .object(let object):
      "{" + object.members.map { notation(.string($0.key)) + ":" + notation($0.value) + "," }.joined() + "}"
    }
  }

  private func hasNumber(_ value: JsonValue) -> Bool {
    switch value {
    case .number: true
    case .array(let elements): elements.contains { hasNumber($0) }
    case .object(let object): object.members.contains { hasNumber($0.value) }
    default: false
    }
  }

  private func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
