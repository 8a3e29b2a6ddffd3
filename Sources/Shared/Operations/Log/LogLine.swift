internal import Json

/// Lays out one line of the log. Pure.
enum LogLine {
  /// Longest text in a line, in Unicode scalars; what is longer is cut and ends in an ellipsis.
  static let textLimit = 500
  /// Longest line in bytes, its newline included: what a pipe takes in one piece (PIPE_BUF).
  static let lineLimit = 4096

  private static let reserved: Set = ["severity", "time", "program", "message", "dropped", "clipped"]

  /// A JSON object and a newline. Fields come in the order of their names; those that would make the line too long are
  /// left out, which `clipped` tells; those that take a name of the line's own are left out too.
  ///
  /// - Parameters:
  ///   - milliseconds: the time, since 1970.
  ///   - dropped: lines lost since the last one that was written.
  static func bytes(
    _ severity: Severity, _ message: String, _ fields: [String: LogField], program: String, milliseconds: Int64,
    dropped: Int = 0
  ) -> [UInt8] {
    var text = JsonText(reserving: 512)
    text.object { line in
      line.member("severity", severity.rawValue)
      line.member("time", Rfc3339.text(milliseconds: milliseconds))
      line.member("program", clip(program))
      line.member("message", clip(message))
      if dropped > 0 { line.member("dropped", dropped) }
      var clipped = false
      for (name, field) in fields.sorted(by: { $0.key < $1.key }) where !reserved.contains(name) {
        var longer = line
        write(clip(name), field, into: &longer)
        if longer.bytes.count > lineLimit - 32 { clipped = true } else { line = longer }
      }
      if clipped { line.member("clipped", true) }
    }
    return text.bytes + [UInt8(ascii: "\n")]
  }

  private static func write(_ name: String, _ field: LogField, into line: inout JsonText) {
    switch field {
    case .text(let text): line.member(name, clip(text))
    case .integer(let integer): line.member(name, integer)
    case .number(let number): line.member(name, .number(number))
    case .bool(let bool): line.member(name, bool)
    }
  }

  private static func clip(_ text: String) -> String {
    if text.utf8.count <= textLimit { return text }
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: textLimit, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return text }
    return String(scalars[..<end]) + "…"
  }
}
