import Testing

/// Bytes to send and what is to come of them, under a name that fits in a line of a test's report.
struct ServerCase<Expected: Sendable>: Sendable, CustomTestStringConvertible {
  var expected: Expected
  var name: String
  var bytes: [UInt8]

  init(_ expected: Expected, _ name: String, _ bytes: [UInt8]) {
    self.expected = expected
    self.name = name
    self.bytes = bytes
  }

  init(_ expected: Expected, _ name: String, _ text: String) { self.init(expected, name, Array(text.utf8)) }

  var testDescription: String { name }
}
