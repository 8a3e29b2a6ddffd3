/// Reads one HTTP/1 response (RFC 9112) from bytes cut anywhere. Bounded: 32 KiB of head, 1 MiB of body.
struct Http1ResponseParser {
  private enum Stage {
    case head
    /// So many bytes of body are still to come.
    case fixed(Int)
    case chunkSize
    case chunk(Int)
    case chunkEnd
    case trailers
    /// The body ends with the connection.
    case untilClose
    case complete
  }

  static let headLimit = 32 * 1024
  static let bodyLimit = 1024 * 1024

  private var stage = Stage.head
  private var unread: [UInt8] = []
  private let answersHead: Bool
  private(set) var response = HttpResponse(status: 0)

  /// - Parameter answersHead: the request was HEAD, so no body follows whatever the headers say.
  init(answersHead: Bool) { self.answersHead = answersHead }

  var isComplete: Bool { if case .complete = stage { true } else { false } }

  /// Takes the next bytes in; whatever follows the response is ignored.
  mutating func feed(_ bytes: some Collection<UInt8>) throws(Http1Failure) {
    unread += bytes
    while try step() {}
    guard unread.count <= Self.headLimit || isComplete else { throw .unreadable("a line without end") }
  }

  /// The connection ended.
  mutating func end() throws(Http1Failure) {
    if case .untilClose = stage { stage = .complete }
    guard isComplete else { throw .connectionLost("the connection closed amid the answer") }
  }

  /// One step forward; false when more bytes are needed, or none.
  private mutating func step() throws(Http1Failure) -> Bool {
    switch stage {
    case .head:
      guard let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
      let head = String(decoding: unread[..<end.lowerBound], as: UTF8.self)
      unread.removeSubrange(..<end.upperBound)
      try read(head: head)
    case .fixed(let left):
      let count = try take(left)
      stage = count == left ? .complete : .fixed(left - count)
      return count == left
    case .chunkSize:
      guard let line = takeLine() else { return false }
      let digits = line.prefix { $0 != ";" }
      // Digits alone: `Int` would take a sign too.
      guard digits.utf8.count <= 8, digits.utf8.allSatisfy({ Ascii.hexValue($0) != nil }),
        let size = Int(digits, radix: 16)
      else { throw .unreadable("a chunk without a size") }
      stage = size == 0 ? .trailers : .chunk(size)
    case .chunk(let left):
      let count = try take(left)
      stage = count == left ? .chunkEnd : .chunk(left - count)
      return count == left
    case .chunkEnd:
      guard let line = takeLine() else { return false }
      guard line.isEmpty else { throw .unreadable("a chunk longer than its size") }
      stage = .chunkSize
    case .trailers:
      guard let line = takeLine() else { return false }
      if line.isEmpty { stage = .complete }
    case .untilClose:
      _ = try take(unread.count)
      return false
    case .complete: return false
    }
    return true
  }

  private mutating func take(_ wanted: Int) throws(Http1Failure) -> Int {
    let count = min(wanted, unread.count)
    guard response.body.count + count <= Self.bodyLimit else { throw .unreadable("a body over 1 MiB") }
    response.body += unread[..<count]
    unread.removeSubrange(..<count)
    return count
  }

  private mutating func takeLine() -> String? {
    guard let end = unread.firstRange(of: [0x0d, 0x0a]) else { return nil }
    defer { unread.removeSubrange(..<end.upperBound) }
    return String(decoding: unread[..<end.lowerBound], as: UTF8.self)
  }

  private mutating func read(head: String) throws(Http1Failure) {
    // "\r\n" is a single Character.
    let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
    let words = lines[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count >= 2, words[0] == "HTTP/1.1" || words[0] == "HTTP/1.0", words[1].utf8.count == 3,
      let status = Int(words[1]), status >= 100
    else { throw .unreadable("not HTTP/1") }
    var headers = HttpHeaders()
    for line in lines.dropFirst() {
      guard line.utf8.allSatisfy(Ascii.isFieldText), let colon = line.firstIndex(of: ":"), colon > line.startIndex
      else {
        throw .unreadable("a bad header")
      }
      headers.add(line[..<colon].lowercased(), String(line[line.index(after: colon)...].trimmed))
    }
    if status < 200 && status != 101 { return }
    response = HttpResponse(status: status, headers: headers)
    stage = try body(status, headers)
  }

  private func body(_ status: Int, _ headers: HttpHeaders) throws(Http1Failure) -> Stage {
    if answersHead || status == 101 || status == 204 || status == 304 { return .complete }
    if let coding = headers["transfer-encoding"] {
      guard coding.lowercased() == "chunked" else { throw .unreadable("an unknown transfer coding") }
      return .chunkSize
    }
    let lengths = Set(headers.all("content-length"))
    guard let length = lengths.first else { return .untilClose }
    guard lengths.count == 1, length.utf8.allSatisfy(Ascii.isDigit), let count = Int(length) else {
      throw .unreadable("a bad Content-Length")
    }
    guard count <= Self.bodyLimit else { throw .unreadable("a body over 1 MiB") }
    return count == 0 ? .complete : .fixed(count)
  }
}

extension Substring {
  /// Without spaces and tabs at either end.
  fileprivate var trimmed: Substring {
    let rest = drop { $0 == " " || $0 == "\t" }
    guard let last = rest.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return rest }
    return rest[...last]
  }
}
