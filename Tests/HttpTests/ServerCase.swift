import Testing

/// Bytes to send and what is to come of them, under a name that fits in a line of a test's report.
struct ServerCase<Expected: Sendable>: Sendable, CustomTestStringConvertible {
  var expected: Expected
  var name: String
  var text: String

  init(_ expected: Expected, _ name: String, _ text: String) {
    self.expected = expected
    self.name = name
    self.text = text
  }

  var testDescription: String { name }
}
