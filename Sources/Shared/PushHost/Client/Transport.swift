/// One request to the gateway.
struct HttpCall: Equatable, Sendable {
  var method: String
  /// Begins with a slash.
  var path: String
  /// The session, where the call needs one.
  var bearer: String?
  /// JSON; nil for none.
  var body: [UInt8]?

  init(_ method: String, _ path: String, bearer: String? = nil, body: [UInt8]? = nil) {
    self.method = method
    self.path = path
    self.bearer = bearer
    self.body = body
  }
}

/// A whole answer.
struct HttpReply: Equatable, Sendable {
  var status: Int
  /// The field `Retry-After`, as it came.
  var retryAfter: String?
  /// At most `HttpReply.limit` bytes.
  var body: [UInt8]

  /// The longest body that is taken, bytes: a list of 1,024 registrations fits.
  static let limit = 1 << 20

  init(status: Int, retryAfter: String? = nil, body: [UInt8] = []) {
    self.status = status
    self.retryAfter = retryAfter
    self.body = body
  }
}

/// Brings a call to the gateway and its answer back. It follows no redirect, keeps no cookie and caches nothing.
protocol Transport: Sendable {
  /// Never takes longer than `deadline` ms by much.
  func exchange(_ call: HttpCall, deadline: Int64) async -> Result<HttpReply, Unreachable>
}

extension Unreachable: Error {}
