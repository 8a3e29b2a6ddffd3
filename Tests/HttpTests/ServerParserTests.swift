import Testing

@testable import Http

/// What a parser says of bytes that come in the given parts: each request in a line, and a refusal if there is one.
func verdict(of bytes: [UInt8], cutAt cuts: [Int] = [], bodyLimit: Int = 16_384) -> String {
  var limits = RequestParser.Limits()
  limits.body = bodyLimit
  var parser = RequestParser(limits: limits)
  var lines: [String] = []
  var start = 0
  for end in cuts + [bytes.count] {
    let part = Array(bytes[start..<end])
    start = end
    var at = 0
    reading: while at < part.count {
      switch parser.read(part.span, at: &at) {
      case .more: break reading
      case .refuse(let status): return (lines + ["refused \(status)"]).joined(separator: "\n")
      case .complete:
        let request = parser.request
        let fields = request.headers.fields.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        let target = request.path + (request.query.map { "?" + $0 } ?? "")
        let body = request.bodyTooLarge ? "too large" : String(decoding: request.body, as: UTF8.self)
        lines.append("\(request.method) \(target) [\(fields)] <\(body)> \(parser.keepsAlive ? "keeps" : "closes")")
        if request.bodyTooLarge { return lines.joined(separator: "\n") }
        parser.next()
      }
    }
  }
  return lines.isEmpty ? "more" : lines.joined(separator: "\n")
}

private let post = "POST /v1/send HTTP/1.1\r\nHost: x\r\n"
private let chunked = post + "Transfer-Encoding: chunked\r\n\r\n"

private typealias Case = ServerCase<Int>

@Suite("Request parser")
struct ServerParserTests {
  @Test(
    "Refuses what is ambiguous or malformed",
    arguments: [
      Case(400, "CL and TE", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
      Case(400, "TE and CL", post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
      Case(400, "two lengths", post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} "),
      Case(400, "two equal lengths", post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"),
      Case(400, "a list of lengths", post + "Content-Length: 2, 2\r\n\r\n{}"),
      Case(400, "+2", post + "Content-Length: +2\r\n\r\n{}"),
      Case(400, "-2", post + "Content-Length: -2\r\n\r\n{}"),
      Case(400, "0x2", post + "Content-Length: 0x2\r\n\r\n{}"),
      Case(400, "a blank inside", post + "Content-Length: 1 2\r\n\r\n{}"),
      Case(400, "an empty length", post + "Content-Length:\r\n\r\n{}"),
      Case(400, "a length of 23 digits", post + "Content-Length: 99999999999999999999999\r\n\r\n{}"),
      Case(400, "chunked twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
      Case(400, "an empty coding", post + "Transfer-Encoding: \r\n\r\n0\r\n\r\n"),
      Case(400, "a coding in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
      Case(501, "an unknown coding", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
      Case(501, "gzip, chunked", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
      Case(501, "vertical tab's neighbour", post + "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n"),
      Case(400, "a blank before the colon", post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
      Case(400, "a field without a name", post + ": x\r\n\r\n"),
      Case(400, "a field without a colon", post + "nothing\r\n\r\n"),
      Case(400, "a folded line", post + "A: b\r\n c\r\n\r\n"),
      Case(400, "a line folded by a tab", post + "A: b\r\n\tc\r\n\r\n"),
      Case(400, "a blank line start after the request line", "GET / HTTP/1.1\r\n Host: x\r\n\r\n"),
      Case(400, "a bare LF after the request line", "GET / HTTP/1.1\n"),
      Case(400, "a bare LF after a field", post + "A: b\n"),
      Case(400, "a bare LF at the end", "GET / HTTP/1.1\r\nHost: x\r\n\n"),
      Case(400, "a bare CR in a value", post + "A: b\rc\r\n\r\n"),
      Case(400, "a NUL in a value", post + "A: b\0c\r\n\r\n"),
      Case(400, "a control byte in a value", post + "A: b\u{1}c\r\n\r\n"),
      Case(400, "DEL in a value", post + "A: b\u{7f}c\r\n\r\n"),
      Case(400, "a byte over 127 in a name", post + "Ä: b\r\n\r\n"),
      Case(400, "no host", "GET / HTTP/1.1\r\n\r\n"),
      Case(400, "two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"),
      Case(400, "two hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n"),
      Case(400, "a host with a blank", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
      Case(400, "a host with user data", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"),
      Case(400, "a host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
      Case(505, "HTTP/3.7", "GET / HTTP/3.7\r\nHost: x\r\n\r\n"),
      Case(505, "HTTP/2.0", "GET / HTTP/2.0\r\nHost: x\r\n\r\n"),
      Case(505, "HTTP/1.2", "GET / HTTP/1.2\r\nHost: x\r\n\r\n"),
      Case(400, "http/1.1", "GET / http/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "HTTP/1.10", "GET / HTTP/1.10\r\nHost: x\r\n\r\n"),
      Case(400, "HTTP/11", "GET / HTTP/11\r\nHost: x\r\n\r\n"),
      Case(400, "no version", "GET /\r\nHost: x\r\n\r\n"),
      Case(400, "a version cut short", "GET / HTTP/1.\r\n\r\n"),
      Case(400, "two blanks before the target", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "two blanks after the target", "GET /  HTTP/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "a tab for a blank", "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "a blank at the end of the line", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n"),
      Case(400, "no method", " / HTTP/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "a method that is no token", "G(T / HTTP/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "an absolute target", "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "an authority for a target", "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "a star for a target", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "a fragment", "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "a byte over 127 in the target", "GET /ä HTTP/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "two empty lines before a request", "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
      Case(400, "a TLS hello", "\u{16}\u{3}\u{1}\u{2}"),
      Case(417, "another expectation", post + "Expect: gold\r\n\r\n"),
      Case(400, "a chunk extension", chunked + "5;a=b\r\nhello\r\n0\r\n\r\n"),
      Case(400, "a blank after a chunk size", chunked + "5 \r\nhello\r\n0\r\n\r\n"),
      Case(400, "no chunk size", chunked + "\r\nhello"),
      Case(400, "0x5", chunked + "0x5\r\nhello\r\n0\r\n\r\n"),
      Case(400, "-5", chunked + "-5\r\nhello"),
      Case(400, "a chunk size of 17 digits", chunked + "fffffffffffffffff"),
      Case(400, "a bare LF after a chunk size", chunked + "5\nhello"),
      Case(400, "a chunk longer than it says", chunked + "5\r\nhello!\r\n0\r\n\r\n"),
      Case(400, "a bare LF after a chunk", chunked + "5\r\nhello\n0\r\n\r\n"),
      Case(400, "a malformed trailer", chunked + "0\r\nno trailer\r\n\r\n"),
      Case(400, "a folded trailer", chunked + "0\r\nA: b\r\n c\r\n\r\n"),
      Case(400, "a trailer about framing", chunked + "0\r\nContent-Length: 5\r\n\r\n"),
      Case(400, "65 trailers", chunked + "0\r\n" + String(repeating: "a: b\r\n", count: 65) + "\r\n"),
      Case(431, "trailers of over 4,096 bytes", chunked + "0\r\nA: " + String(repeating: "b", count: 4_094)),
      Case(431, "a value of 20,000 bytes", post + "A: " + String(repeating: "a", count: 20_000)),
      Case(431, "a target of 20,000 bytes", "GET /" + String(repeating: "a", count: 20_000)),
      Case(431, "2,000 fields", post + String(repeating: "a: b\r\n", count: 2_000) + "\r\n"),
      Case(431, "65 fields", post + String(repeating: "a: b\r\n", count: 64) + "\r\n"),
    ])
  func refused(request: ServerCase<Int>) {
    let bytes = request.bytes
    #expect(verdict(of: bytes) == "refused \(request.expected)")
    #expect(verdict(of: bytes, cutAt: Array(0..<bytes.count)) == "refused \(request.expected)")
  }

  @Test(
    "Reads what is well-formed",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / [host=x] <> keeps"),
      ("GET /a?b=c?d HTTP/1.1\r\nHOST:x:80\r\n\r\n", "GET /a?b=c?d [host=x:80] <> keeps"),
      ("GET /? HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET /? [host=[::1]:80] <> keeps"),
      ("\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / [host=x] <> keeps"),
      ("GET /%2e/ HTTP/1.1\r\nHost:\r\nA: \t b c\t \r\n\r\n", "GET /%2e/ [host=,a=b c] <> keeps"),
      ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / [host=x,connection=close] <> closes"),
      (
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Close\r\n\r\n",
        "GET / [host=x,connection=keep-alive, Close] <> closes"
      ),
      ("GET / HTTP/1.0\r\n\r\n", "GET / [] <> closes"),
      ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / [connection=keep-alive] <> closes"),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 002\r\n\r\n{}", "POST / [host=x,content-length=002] <{}> keeps"),
      ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "POST / [host=x,content-length=0] <> keeps"),
      (
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n00A\r\n0123456789\r\n0\r\nT: v\r\n\r\n",
        "POST / [host=x,transfer-encoding=Chunked] <hello0123456789> keeps"
      ),
      (
        "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /a [host=x,content-length=5] <hello> keeps\nGET /b [host=x] <> keeps"
      ),
    ])
  func read(request: String, expected: String) {
    let bytes = Array(request.utf8)
    #expect(verdict(of: bytes) == expected)
    #expect(verdict(of: bytes, cutAt: Array(0..<bytes.count)) == expected)
  }

  @Test("A head of exactly 16,384 bytes is read, one of 16,385 is refused")
  func headLimit() {
    func head(_ count: Int) -> [UInt8] {
      let start = "GET / HTTP/1.1\r\nHost: x\r\nA: "
      return Array((start + String(repeating: "a", count: count - start.utf8.count - 4) + "\r\n\r\n").utf8)
    }
    #expect(verdict(of: head(16_384)).hasPrefix("GET / [host=x,a=aaa"))
    #expect(verdict(of: head(16_385)) == "refused 431")
    #expect(verdict(of: head(16_385), cutAt: [16_384]) == "refused 431")
  }

  @Test(
    "A body over the limit is a whole request, marked, as soon as its size is known",
    arguments: [
      "Content-Length: 16385\r\n\r\n",
      "Content-Length: 999999999999999999\r\n\r\n",
      "Expect: 100-continue\r\nContent-Length: 16385\r\n\r\n",
      "Transfer-Encoding: chunked\r\n\r\n4001\r\n",
      "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n",
      "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
      "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n4000\r\n",
    ])
  func tooLarge(fields: String) {
    let bytes = Array((post + fields).utf8)
    for cuts in [[], Array(0..<bytes.count)] {
      let answer = verdict(of: bytes, cutAt: cuts)
      #expect(answer.hasPrefix("POST /v1/send [host=x,"))
      #expect(answer.hasSuffix("<too large> closes"))
    }
  }

  @Test("A body of exactly the limit is taken, declared or chunked")
  func exactLimit() {
    let body = String(repeating: "y", count: 16_384)
    let declared = verdict(of: Array((post + "Content-Length: 16384\r\n\r\n" + body).utf8))
    #expect(declared.hasSuffix("<\(body)> keeps"))
    let inChunks = verdict(of: Array((chunked + "3fff\r\n\(body.dropLast())\r\n1\r\ny\r\n0\r\n\r\n").utf8))
    #expect(inChunks.hasSuffix("<\(body)> keeps"))
  }

  @Test(
    "100 Continue is asked for when a body is wanted and has not begun, once",
    arguments: [
      ("Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", true),
      ("Expect: 100-Continue\r\nTransfer-Encoding: chunked\r\n\r\n", true),
      ("Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{", false),
      ("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n5", false),
      ("Expect: 100-continue\r\n\r\n", false),
      ("Expect: 100-continue\r\nContent-Length: 16385\r\n\r\n", false),
      ("Content-Length: 2\r\n\r\n", false),
      ("Expect: 100-continue\r\n", false),
    ])
  func expectContinue(fields: String, asked: Bool) {
    var parser = RequestParser()
    var at = 0
    let bytes = Array((post + fields).utf8)
    _ = parser.read(bytes.span, at: &at)
    let answers = [parser.takeContinue(), parser.takeContinue()]
    #expect(answers == [asked, false])
  }

  @Test("HTTP/1.0 knows no 100 Continue")
  func noContinue() {
    var parser = RequestParser()
    var at = 0
    let bytes = Array("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n".utf8)
    _ = parser.read(bytes.span, at: &at)
    let asked = parser.takeContinue()
    #expect(!asked)
  }
}
