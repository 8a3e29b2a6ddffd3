/// What a request's fields say of its framing, gathered one by one (RFC 9112 6, 3.2 and 9.3).
struct FieldFacts {
  private enum Coding { case chunked, other }

  private var length: Int?
  private var coding: Coding?
  private var hosts = 0
  private var closes = false
  private var expectsContinue = false
  private var expectsOther = false

  /// False when the field makes the request malformed.
  mutating func note(_ name: String, _ value: String) -> Bool {
    switch name {
    case "content-length":
      // Digits alone, said once: no sign, no list, not even of equal numbers. 18 digits cannot overflow.
      guard length == nil, (1...18).contains(value.utf8.count), value.utf8.allSatisfy(Ascii.isDigit) else {
        return false
      }
      length = value.utf8.reduce(0) { $0 * 10 + Int($1 - 48) }
    case "transfer-encoding":
      guard coding == nil, !value.isEmpty else { return false }
      coding = value.lowercased() == "chunked" ? .chunked : .other
    case "host":
      hosts += 1
      return value.utf8.allSatisfy(Ascii.isHost)
    case "connection":
      for option in value.utf8.split(separator: UInt8(ascii: ",")) where Substring(option).trimmed == "close" {
        closes = true
      }
    case "expect":
      if value.lowercased() == "100-continue" { expectsContinue = true } else { expectsOther = true }
    default: break
    }
    return true
  }

  /// The verdict once all fields are known. `minorVersion` is 0 or 1.
  func framing(minorVersion: UInt8) -> RequestHead.Reading {
    guard hosts == 1 || (hosts == 0 && minorVersion == 0) else { return .refuse(400) }
    var framing = RequestHead.Framing()
    if let coding {
      // HTTP/1.0 knows no codings, and with a length beside it the two ends may disagree.
      guard length == nil, minorVersion == 1 else { return .refuse(400) }
      guard coding == .chunked else { return .refuse(501) }
      framing.body = .chunked
    } else if let length, length > 0 {
      framing.body = .length(length)
    }
    guard !expectsOther else { return .refuse(417) }
    framing.keepsAlive = minorVersion == 1 && !closes
    framing.expectsContinue = expectsContinue && minorVersion == 1
    return .framed(framing)
  }
}

extension Substring {
  /// Without blanks at its ends, in lower case.
  fileprivate var trimmed: String {
    var part = self
    while part.first == " " || part.first == "\t" { part.removeFirst() }
    while part.last == " " || part.last == "\t" { part.removeLast() }
    return part.lowercased()
  }
}
