/// Text or bytes that must not reach a log: every way of printing it shows a mask.
package struct Secret: Sendable {
  private let hidden: [UInt8]

  /// Hides the UTF-8 of `text`.
  package init(_ text: String) { hidden = Array(text.utf8) }

  /// Hides `bytes`.
  package init(bytes: [UInt8]) { hidden = bytes }

  /// The hidden text, for the one place that needs it. Bytes that are not UTF-8 become U+FFFD.
  package func reveal() -> String { String(decoding: hidden, as: UTF8.self) }

  /// The hidden bytes, for the one place that needs them.
  package func revealBytes() -> [UInt8] { hidden }
}

extension Secret: Equatable {
  /// Compares in constant time.
  package static func == (one: Secret, other: Secret) -> Bool { ConstantTime.equal(one.hidden, other.hidden) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The mask, whatever is hidden.
  package var description: String { "***" }
  /// The mask, whatever is hidden.
  package var debugDescription: String { description }
  /// A mirror without children.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
