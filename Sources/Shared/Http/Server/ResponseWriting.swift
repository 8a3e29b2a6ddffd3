extension HttpResponse {
  /// What a request that cannot be understood is answered with.
  static func refusal(_ status: Int) -> HttpResponse {
    HttpResponse(status: status, body: Array(#"{"error":"invalid_request"}"#.utf8), closes: true)
  }

  /// Whether the status lets a body follow (RFC 9110 6.4.1).
  var mayHaveBody: Bool { status >= 200 && status != 204 && status != 304 }

  /// The reply's fields as sent in both protocols: the handler's own, less those that the wire owns, and the defaults.
  func forEachField(_ body: (String, String) -> Void) {
    var hasType = false
    var hasCache = false
    for (name, value) in headers.fields {
      switch name {
      case "content-length", "connection", "transfer-encoding", "keep-alive": continue
      case "content-type": hasType = true
      case "cache-control": hasCache = true
      default: break
      }
      // A line end in a value would let it write fields of its own.
      guard value.utf8.allSatisfy(Ascii.isFieldText) else { continue }
      body(name, value)
    }
    if !hasType { body("content-type", "application/json; charset=utf-8") }
    if !hasCache { body("cache-control", "no-store") }
  }

  /// Appends the reply in HTTP/1.1's form.
  func write(to output: inout [UInt8], withoutBody: Bool, closes: Bool) {
    output.append(contentsOf: "HTTP/1.1 ".utf8)
    output.append(contentsOf: String(status).utf8)
    output.append(Ascii.space)
    output.append(contentsOf: Self.reason(status).utf8)
    forEachField { name, value in
      output.append(contentsOf: "\r\n".utf8)
      output.append(contentsOf: name.utf8)
      output.append(contentsOf: ": ".utf8)
      output.append(contentsOf: value.utf8)
    }
    if mayHaveBody {
      output.append(contentsOf: "\r\ncontent-length: ".utf8)
      output.append(contentsOf: String(body.count).utf8)
    }
    output.append(contentsOf: closes ? "\r\nconnection: close\r\n\r\n".utf8 : "\r\n\r\n".utf8)
    if mayHaveBody, !withoutBody { output.append(contentsOf: body) }
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 417: "Expectation Failed"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: "Status"
    }
  }
}
