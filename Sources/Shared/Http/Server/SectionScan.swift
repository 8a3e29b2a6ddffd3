/// Finds the blank line that ends a head or trailers, and refuses at once what can never become a good one: a bare LF or
/// CR, a control byte, a folded line.
struct SectionScan: Sendable {
  enum Result { case more, ended, malformed, tooLong }

  private enum State {
    /// Nothing of a request yet. One empty line is let pass (RFC 9112 2.2).
    case start
    case emptyLine
    case text
    case cr
    case lineStart
    case lastCr
  }

  private var state: State
  private var length = 0

  init() { state = .start }

  /// Trailers may be empty: a blank line at once.
  init(trailers: Void) { state = .lineStart }

  /// Nothing but an empty line has been seen.
  var isBlank: Bool { state == .start || state == .emptyLine }

  /// Moves `at` forward to the end of the section, the first bad byte, or the end of `input`.
  mutating func advance(_ input: Span<UInt8>, _ at: inout Int, limit: Int) -> Result {
    let start = at
    let end = min(input.count, at + (limit - length))
    defer { length += at - start }
    while at < end {
      let byte = input[at]
      at += 1
      switch state {
      case .text:
        if Ascii.isFieldText(byte) { continue }
        guard byte == Ascii.cr else { return .malformed }
        state = .cr
      case .cr:
        guard byte == Ascii.lf else { return .malformed }
        state = .lineStart
      case .lineStart:
        if byte == Ascii.cr {
          state = .lastCr
        } else {
          guard Ascii.isToken(byte) else { return .malformed }
          state = .text
        }
      case .lastCr: return byte == Ascii.lf ? .ended : .malformed
      case .start:
        if byte == Ascii.cr, length + at - start == 1 {
          state = .emptyLine
        } else {
          guard Ascii.isToken(byte) else { return .malformed }
          state = .text
        }
      case .emptyLine:
        guard byte == Ascii.lf else { return .malformed }
        state = .start
      }
    }
    return length + at - start == limit ? .tooLong : .more
  }
}
