@testable import Http

/// HTTP/1.1 responses of token and metadata servers: read alike however they are cut, and bounded.
enum Responses: Target {
  static func run(_ bytes: [UInt8]) {
    for answersHead in [false, true] {
      let whole = read(bytes, by: bytes.count, answersHead)
      for step in [1, 5] { require(read(bytes, by: step, answersHead) == whole, "cut every \(step): \(whole)") }
    }
  }

  private static func read(_ bytes: [UInt8], by step: Int, _ answersHead: Bool) -> String {
    var parser = Http1ResponseParser(answersHead: answersHead)
    var rest = bytes[...]
    do throws(Http1Failure) {
      while !rest.isEmpty {
        try parser.feed(rest.prefix(max(step, 1)))
        rest = rest.dropFirst(max(step, 1))
      }
      try parser.end()
    } catch {
      return "\(error)"
    }
    let response = parser.response
    require((101...999).contains(response.status), "the status is \(response.status)")
    require(response.body.count <= bytes.count, "more came than was sent")
    for (name, value) in response.headers.fields {
      require(!name.isEmpty && name == name.lowercased(), "the name \(name)")
      require(!value.utf8.contains { $0 == 10 || $0 == 0 }, "a line end in \(value.debugDescription)")
    }
    if let length = response.headers["content-length"], response.headers["transfer-encoding"] == nil, !answersHead,
      ![101, 204, 304].contains(response.status)
    {
      require(
        length == "\(response.body.count)" || length.hasPrefix("0"), "\(length) announced, \(response.body.count)")
    }
    return "\(response)"
  }
}
