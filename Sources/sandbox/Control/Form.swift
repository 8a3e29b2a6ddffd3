/// Fields as forms and queries write them (`a=1&b=two`).
enum Form {
  /// The fields by name; of a name that comes twice the last one counts.
  static func fields(_ text: String) -> [String: String] {
    var fields: [String: String] = [:]
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      fields[decoded(parts[0])] = parts.count == 2 ? decoded(parts[1]) : ""
    }
    return fields
  }

  private static func decoded(_ text: Substring) -> String {
    let bytes = Array(text.utf8)
    var plain: [UInt8] = []
    var at = 0
    while at < bytes.count {
      if bytes[at] == UInt8(ascii: "%"), at + 2 < bytes.count,
        let byte = UInt8(String(decoding: bytes[(at + 1)...(at + 2)], as: UTF8.self), radix: 16)
      {
        plain.append(byte)
        at += 3
      } else {
        plain.append(bytes[at] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[at])
        at += 1
      }
    }
    return String(decoding: plain, as: UTF8.self)
  }
}
