internal import CPostgres

/// Where a database is, and how to log in. Its description leaves the password out.
package struct PostgresUrl: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// Why a text is no connection text. Never holds a part of the text that could be the password.
  package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
    package let reason: String
    package var description: String { reason }
  }

  /// libpq's keywords with their values, as far as the text names them.
  private(set) var settings: [String: String] = [:]
  /// Whether statements may be prepared under names.
  let prepares: Bool

  /// Takes `postgres://` and `postgresql://` URLs and `key=value` lists, as libpq does, and one option of our own:
  /// `prepared=off` for a pooler in transaction mode between us and the server.
  package init(_ text: String) throws(Fault) {
    if text.utf8.allSatisfy({ $0 == 0x20 }) { throw Fault(reason: "the connection text is empty") }
    if text.utf8.contains(0) { throw Fault(reason: "the connection text holds a NUL character") }
    let (rest, prepared) = PreparedOption.take(from: text)
    switch prepared {
    case nil, "on": prepares = true
    case "off": prepares = false
    default: throw Fault(reason: "prepared must be on or off")
    }
    // Before anything else of the text is told: what libpq takes for a host or a database would be the rest of a password.
    if Self.hasLooseAt(rest) { throw Fault(reason: "it holds a loose @: in a user or password it is written %40") }
    var complaint: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(rest, &complaint) else {
      defer { PQfreemem(complaint) }
      throw Fault(reason: Self.withoutQuotes(complaint.map { String(cString: $0) } ?? "out of memory"))
    }
    defer { PQconninfoFree(options) }
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { settings[String(cString: keyword)] = String(cString: value) }
      option += 1
    }
    for port in (settings["port"] ?? "").split(separator: ",") where !(UInt16(port).map { $0 > 0 } ?? false) {
      throw Fault(reason: "the port must be a number from 1 to 65535")
    }
    let faults = ConnectionValues.faults(settings)
    if !faults.isEmpty { throw Fault(reason: faults.joined(separator: "; ")) }
  }

  /// Whether a URL holds an @ before its options beside the one that ends its user's part: by libpq's rules the first before
  /// any slash.
  private static func hasLooseAt(_ text: String) -> Bool {
    guard let scheme = ["postgres://", "postgresql://"].first(where: { text.utf8.starts(with: $0.utf8) }) else {
      return false
    }
    var rest = text.utf8.dropFirst(scheme.utf8.count)
    if let stop = rest.firstIndex(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "/") }),
      rest[stop] == UInt8(ascii: "@")
    {
      rest = rest[rest.index(after: stop)...]
    }
    return rest.prefix { $0 != UInt8(ascii: "?") }.contains(UInt8(ascii: "@"))
  }

  /// Host, port and database.
  package var description: String {
    "postgresql://\(settings["host"] ?? settings["hostaddr"] ?? ""):\(settings["port"] ?? "5432")/\(settings["dbname"] ?? "")"
  }
  package var debugDescription: String { description }

  /// libpq quotes what it cannot read, and that may be the password, so all between the outermost quotes goes.
  static func withoutQuotes(_ message: String) -> String {
    let line = message.split(whereSeparator: \.isNewline).joined(separator: " ").utf8
    // By bytes: what is quoted may begin with a character that takes the quote into its own.
    guard let first = line.firstIndex(of: UInt8(ascii: "\"")), let last = line.lastIndex(of: UInt8(ascii: "\"")) else {
      return String(line)
    }
    return String(decoding: line[..<first], as: UTF8.self) + "…"
      + String(decoding: line[line.index(after: last)...], as: UTF8.self)
  }
}
