/// Reads a head that `SectionScan` found whole, so that every line ends in CRLF and holds no control byte.
enum RequestHead {
  enum Body: Equatable { case none, length(Int), chunked }

  /// What the head says of the message around it.
  struct Framing {
    var body = Body.none
    var keepsAlive = true
    var expectsContinue = false
  }

  enum Reading { case framed(Framing), refuse(Int) }

  /// Fills `request` from `head`.
  static func read(_ head: Span<UInt8>, fieldLimit: Int, into request: inout HttpRequest) -> Reading {
    var at = head[0] == Ascii.cr ? 2 : 0
    let minor: UInt8
    switch readRequestLine(head, &at, &request) {
    case .refuse(let status): return .refuse(status)
    case .version(let version): minor = version
    }
    var fields = FieldFacts()
    while head[at] != Ascii.cr {
      guard request.headers.fields.count < fieldLimit else { return .refuse(431) }
      guard let field = readField(head, &at) else { return .refuse(400) }
      guard fields.note(field.name, field.value) else { return .refuse(400) }
      request.headers.add(field.name, field.value)
    }
    return fields.framing(minorVersion: minor)
  }

  /// Whether `bytes` are well-formed trailer fields. They are dropped, but may not speak of framing or routing.
  static func areTrailers(_ bytes: Span<UInt8>, limit: Int) -> Bool {
    var at = 0
    var count = 0
    while bytes[at] != Ascii.cr {
      count += 1
      guard count <= limit, let field = readField(bytes, &at) else { return false }
      if ["content-length", "transfer-encoding", "host"].contains(field.name) { return false }
    }
    return true
  }

  // MARK: Lines

  private enum RequestLine { case version(UInt8), refuse(Int) }

  private static func readRequestLine(_ head: Span<UInt8>, _ at: inout Int, _ request: inout HttpRequest) -> RequestLine
  {
    let method = skip(head, at, Ascii.isToken)
    guard method > at, head[method] == Ascii.space, head[method + 1] == UInt8(ascii: "/") else { return .refuse(400) }
    let target = skip(head, method + 1, Ascii.isTarget)
    // " HTTP/1.1" and CRLF; the head ends in CRLF too, so this many bytes tell of a line that is too short.
    guard head[target] == Ascii.space, head.count >= target + 11, matches(head, target + 1, "HTTP/"),
      Ascii.isDigit(head[target + 6]), head[target + 7] == UInt8(ascii: "."), Ascii.isDigit(head[target + 8]),
      head[target + 9] == Ascii.cr
    else { return .refuse(400) }
    let minor = head[target + 8]
    guard head[target + 6] == UInt8(ascii: "1"), minor <= UInt8(ascii: "1") else { return .refuse(505) }
    request.method = text(head, at..<method)
    let path = skip(head, method + 1) { Ascii.isTarget($0) && $0 != UInt8(ascii: "?") }
    request.path = text(head, (method + 1)..<path)
    if path < target { request.query = text(head, (path + 1)..<target) }
    at = target + 11
    return .version(minor - UInt8(ascii: "0"))
  }

  private static func readField(_ head: Span<UInt8>, _ at: inout Int) -> (name: String, value: String)? {
    let colon = skip(head, at, Ascii.isToken)
    guard colon > at, head[colon] == UInt8(ascii: ":") else { return nil }
    var from = colon + 1
    let end = skip(head, from) { $0 != Ascii.cr }
    var to = end
    while from < to, isBlank(head[from]) { from += 1 }
    while from < to, isBlank(head[to - 1]) { to -= 1 }
    let name = lowercased(head, at..<colon)
    at = end + 2
    return (name, text(head, from..<to))
  }

  // MARK: Bytes

  /// The first index from `at` on whose byte is not in the class. There is one: every line ends in CR.
  private static func skip(_ bytes: Span<UInt8>, _ at: Int, _ isMember: (UInt8) -> Bool) -> Int {
    var i = at
    while isMember(bytes[i]) { i += 1 }
    return i
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == Ascii.space || byte == Ascii.tab }

  private static func matches(_ bytes: Span<UInt8>, _ at: Int, _ text: StaticString) -> Bool {
    for i in 0..<text.utf8CodeUnitCount where bytes[at + i] != text.utf8Start[i] { return false }
    return true
  }

  private static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    bytes.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }

  private static func lowercased(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    String(unsafeUninitializedCapacity: range.count) { name in
      for i in 0..<range.count { name.initializeElement(at: i, to: Ascii.lowercased(bytes[range.lowerBound + i])) }
      return range.count
    }
  }
}
