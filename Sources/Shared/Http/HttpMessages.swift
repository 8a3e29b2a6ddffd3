/// A request as the server read it, whole.
package struct HttpRequest: Sendable {
  /// As sent, e.g. `POST`.
  package var method: String
  /// The path alone, percent escapes untouched.
  package var path: String
  /// What followed the first `?`, without it.
  package var query: String?
  package var headers: HttpHeaders
  package var body: [UInt8]
  /// The body went over the server's limit, was not read to its end and is empty here: the handler answers 413 when its
  /// other checks have passed (rulings 1.11). The connection closes after the reply.
  package var bodyTooLarge: Bool
  /// The other end's address as text, without a port.
  package var peer: String
  /// 2 for HTTP/2 (with or without TLS), 1 for HTTP/1.x.
  package var version: Int

  package init(
    method: String, path: String, query: String? = nil, headers: HttpHeaders = [:], body: [UInt8] = [],
    bodyTooLarge: Bool = false, peer: String = "127.0.0.1", version: Int = 1
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.bodyTooLarge = bodyTooLarge
    self.peer = peer
    self.version = version
  }
}

/// A reply, whole: `content-length` is added by whoever writes it.
package struct HttpResponse: Sendable {
  package var status: Int
  package var headers: HttpHeaders
  package var body: [UInt8]
  /// Ask HTTP/1 peers to close (`Connection: close`) after this reply.
  package var closes: Bool

  package init(status: Int, headers: HttpHeaders = [:], body: [UInt8] = [], closes: Bool = false) {
    self.status = status
    self.headers = headers
    self.body = body
    self.closes = closes
  }
}
