/// Why bytes are no acceptable JSON document, and where. It never holds any of the bytes, so it may be logged.
package struct JsonFault: Error, Equatable {
  /// The rule that was broken; `rawValue` is the one-line text for people.
  package enum Reason: String, Sendable {
    case valueExpected = "a value is expected"
    case keyExpected = "a member name is expected"
    case colonExpected = "a colon is expected"
    case commaExpected = "a comma or the closing bracket is expected"
    case trailingBytes = "bytes follow the document"
    case badNumber = "the number is malformed"
    case numberOutOfRange = "the number is out of range"
    case badEscape = "the escape is malformed"
    case loneSurrogate = "a surrogate escape stands alone"
    case controlCharacter = "a control character must be escaped"
    case unterminatedString = "the string is not closed"
    case invalidUtf8 = "the string is not UTF-8"
    case duplicateKey = "a member appears twice"
    case tooDeep = "the nesting is too deep"
    case tooManyMembers = "there are too many members or elements"
  }

  package let reason: Reason
  /// Where in the document it was noticed, in bytes from its start; at most the document's length.
  package let offset: Int

  package init(reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

extension JsonFault: CustomStringConvertible {
  package var description: String { "\(reason.rawValue) (byte \(offset))" }
}
