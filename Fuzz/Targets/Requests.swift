@testable import Http

/// HTTP/1.1 requests: however they are cut, they are read alike, within their bounds, and nothing that was read can speak
/// of another message's framing.
enum Requests: Target {
  static func run(_ bytes: [UInt8]) {
    let whole = read(bytes, by: bytes.count)
    for step in [1, 5] { require(read(bytes, by: step) == whole, "cut every \(step): \(whole)") }
  }

  /// What comes of a connection's bytes when they arrive `step` at a time.
  private static func read(_ bytes: [UInt8], by step: Int) -> [String] {
    var parser = RequestParser()
    var verdicts: [String] = []
    var start = 0
    while start < bytes.count {
      let part = Array(bytes[start..<min(start + max(step, 1), bytes.count)])
      start += part.count
      var at = 0
      while at < part.count {
        let before = at
        switch parser.read(part.span, at: &at) {
        case .more: require(at == part.count, "input was left")
        case .refuse(let status):
          require([400, 417, 431, 501, 505].contains(status), "refused with \(status)")
          return verdicts + ["\(status)"]
        case .complete:
          require(at > before || verdicts.isEmpty, "nothing was used")
          check(parser.request)
          verdicts.append("\(parser.request) \(parser.keepsAlive)")
          guard parser.keepsAlive else { return verdicts }
          parser.next()
        }
      }
    }
    return verdicts + ["\(parser.stage)"]
  }

  private static func check(_ request: HttpRequest) {
    let limits = RequestParser.Limits()
    require(request.headers.fields.count <= limits.fields, "too many fields")
    require(request.body.count <= limits.body, "the body is too large")
    require(!request.bodyTooLarge || request.body.isEmpty, "a part of a body that is too large")
    require(request.path.utf8.first == UInt8(ascii: "/"), "the path is \(request.path)")
    let target = request.path.utf8.count + (request.query?.utf8.count ?? 0)
    let fields = request.headers.fields.reduce(0) { $0 + $1.name.utf8.count }
    require(request.method.utf8.count + target + fields <= limits.head, "the head is too long")
    for text in [request.method, request.path, request.query ?? ""] + request.headers.fields.map(\.value) {
      require(!text.utf8.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7f }, "a control byte in \(text.debugDescription)")
    }
    for (name, _) in request.headers.fields {
      require(!name.isEmpty && name == name.lowercased() && name.utf8.allSatisfy(Ascii.isToken), "the name \(name)")
    }
    require(request.headers.all("host").count <= 1, "two hosts")
    require(
      request.headers["content-length"] == nil || request.headers["transfer-encoding"] == nil, "two ways to frame")
  }
}
