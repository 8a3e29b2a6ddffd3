/// Finds and takes out our own option `prepared=…`, which libpq would refuse.
enum PreparedOption {
  /// The text without the option, and the option's value.
  static func take(from text: String) -> (rest: String, value: String?) {
    text.utf8.starts(with: "postgres://".utf8) || text.utf8.starts(with: "postgresql://".utf8)
      ? takeFromUrl(text) : takeFromList(text)
  }

  private static func takeFromUrl(_ text: String) -> (String, String?) {
    // As libpq has it: a user's part, which may hold a question mark, ends at the first at sign before any slash.
    var start = text.index(text.firstIndex(of: ":") ?? text.startIndex, offsetBy: 3)
    if let stop = text[start...].firstIndex(where: { $0 == "@" || $0 == "/" }), text[stop] == "@" { start = stop }
    guard let mark = text[start...].firstIndex(of: "?") else { return (text, nil) }
    var value: String?
    let kept = text[text.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false).filter { pair in
      // A second one is left for libpq to complain about.
      guard pair.hasPrefix("prepared="), value == nil else { return true }
      value = String(pair.dropFirst("prepared=".count))
      return false
    }
    guard value != nil else { return (text, nil) }
    return (String(text[..<mark]) + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&")), value)
  }

  /// Walks `key = 'value' key=value` by libpq's rules: blanks around the sign, quotes, backslashes. What it cannot follow
  /// it leaves for libpq to complain about.
  private static func takeFromList(_ text: String) -> (String, String?) {
    let bytes = Array(text.utf8)
    func isBlank(_ at: Int) -> Bool { bytes[at] == 0x20 || (0x09...0x0d).contains(bytes[at]) }
    func skipBlanks(_ at: inout Int) { while at < bytes.count, isBlank(at) { at += 1 } }
    var at = 0
    while true {
      skipBlanks(&at)
      let start = at
      while at < bytes.count, !isBlank(at), bytes[at] != UInt8(ascii: "=") { at += 1 }
      let keyword = bytes[start..<at]
      skipBlanks(&at)
      guard at < bytes.count, bytes[at] == UInt8(ascii: "=") else { return (text, nil) }
      at += 1
      skipBlanks(&at)
      var value: [UInt8] = []
      let quoted = at < bytes.count && bytes[at] == UInt8(ascii: "'")
      if quoted { at += 1 }
      while at < bytes.count, quoted ? bytes[at] != UInt8(ascii: "'") : !isBlank(at) {
        if bytes[at] == UInt8(ascii: "\\"), at + 1 < bytes.count { at += 1 }
        value.append(bytes[at])
        at += 1
      }
      if quoted {
        guard at < bytes.count else { return (text, nil) }
        at += 1
      }
      if keyword.elementsEqual("prepared".utf8) {
        let rest = bytes[..<start] + bytes[at...]
        return (String(decoding: rest, as: UTF8.self), String(decoding: value, as: UTF8.self))
      }
    }
  }
}
