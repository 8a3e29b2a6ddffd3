import Testing

@testable import Http

@Suite("HTTP/1 responses")
struct ClientHttp1ParserTests {
  static let whole: [(text: String, status: Int, body: String)] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"),
    ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\nhello and more", 200, "hello"),
    ("HTTP/1.1 204 \r\n\r\n", 204, ""),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, ""),
    ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nContent-Length: 1\r\n\r\nx", 201, "x"),
    (
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", 200,
      "abc0123456789"
    ),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nTrailer: x\r\n\r\n", 200, "a"),
  ]

  @Test("A response reads the same whole and byte by byte", arguments: whole)
  func cut(text: String, status: Int, body: String) throws {
    for size in [text.utf8.count, 1, 7] {
      var parser = Http1ResponseParser(answersHead: false)
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        try parser.feed(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      #expect(parser.isComplete)
      #expect(parser.response.status == status)
      #expect(parser.response.body == Array(body.utf8))
    }
  }

  @Test("Header names are in lower case, values without spaces around them")
  func headers() throws {
    var parser = Http1ResponseParser(answersHead: true)
    try parser.feed(Array("HTTP/1.0 302 Found\r\nLocation:  http://x \r\nX:\r\nContent-Length: 10\r\n\r\n".utf8))
    #expect(parser.isComplete)
    #expect(parser.response.headers["location"] == "http://x")
    #expect(parser.response.headers["x"]?.isEmpty == true)
  }

  @Test("A body without length ends with the connection, any other end is a fault")
  func untilClose() throws {
    var parser = Http1ResponseParser(answersHead: false)
    try parser.feed(Array("HTTP/1.1 200 OK\r\n\r\nab".utf8))
    try parser.feed(Array("c".utf8))
    #expect(!parser.isComplete)
    try parser.end()
    #expect(parser.isComplete && parser.response.body == Array("abc".utf8))
    for text in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"] {
      var parser = Http1ResponseParser(answersHead: false)
      try parser.feed(Array(text.utf8))
      #expect(throws: Http1Failure.connectionLost("the connection closed amid the answer")) { try parser.end() }
    }
  }

  @Test(
    "What is no response, or too large a one, is refused",
    arguments: [
      "SSH-2.0-x\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 99 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA: b\nc: d\r\n\r\n", "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx",
      "HTTP/1.1 200 OK\r\nContent-Length: -0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\nx\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
      "HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + String(repeating: "0", count: 40_000),
      String(repeating: "x", count: 40_000),
      "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 1_048_577),
    ])
  func refused(text: String) {
    var parser = Http1ResponseParser(answersHead: false)
    #expect(throws: Http1Failure.self) { try parser.feed(Array(text.utf8)) }
  }
}
