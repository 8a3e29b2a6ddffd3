internal import Contract
internal import Http
internal import Json
internal import Stores

/// Why a request is not answered as its sender wished: what the reply says, and what the log may say (rulings 1.1 to 1.3).
struct Problem: Error {
  let status: Int
  let code: ErrorCode
  /// One line for whoever wrote the client, without anything from the request's own values.
  var detail: String?
  var headers: HttpHeaders = [:]
  /// The connection ends with the reply.
  var closes = false
  /// The kind of our own trouble behind it, for the log; nil when the caller alone is to blame.
  var cause: String?

  private init(
    _ status: Int, _ code: ErrorCode, _ detail: String? = nil, headers: HttpHeaders = [:], cause: String? = nil
  ) {
    self.status = status
    self.code = code
    self.detail = detail
    self.headers = headers
    self.cause = cause
  }

  var reply: HttpResponse {
    .json(status, headers: headers, closes: closes) {
      $0.member("error", code.rawValue)
      $0.member("detail", ifPresent: detail)
    }
  }
}

extension Problem {
  static func invalidRequest(_ detail: String) -> Problem { Problem(400, .invalidRequest, detail) }
  static var invalidChallenge: Problem { Problem(401, .invalidChallenge) }
  static var invalidProof: Problem { Problem(401, .invalidProof) }
  static var invalidToken: Problem { Problem(401, .invalidToken, headers: ["www-authenticate": "Bearer"]) }
  static var sessionExpired: Problem { Problem(401, .sessionExpired, headers: ["www-authenticate": "Bearer"]) }
  static var notFound: Problem { Problem(404, .notFound) }
  static var tooManyDevices: Problem { Problem(409, .tooManyDevices) }
  static var requestTooLarge: Problem { Problem(413, .requestTooLarge) }
  static var validationOnly: Problem { Problem(503, .validationOnly) }

  static func methodNotAllowed(_ allowed: [String]) -> Problem {
    Problem(405, .methodNotAllowed, headers: ["allow": allowed.joined(separator: ", ")])
  }

  /// - Parameter seconds: until it is worth trying again.
  static func rateLimited(seconds: Int) -> Problem {
    Problem(429, .rateLimited, headers: ["retry-after": String(seconds)])
  }

  /// What is needed is not to be had just now.
  static func busy(_ cause: String) -> Problem {
    Problem(503, .busy, headers: ["retry-after": "1"], cause: cause)
  }

  static var shuttingDown: Problem {
    var problem = Problem(503, .shuttingDown)
    problem.closes = true
    return problem
  }

  /// A fault of our own.
  static func internalFault(_ cause: String) -> Problem { Problem(500, .internalFault, cause: cause) }

  init(_ failure: StoreFailure) {
    switch failure {
    case .unavailable: self = .busy("database unavailable")
    case .unknown: self = .busy("database answer lost")
    // The text is a SQL state or a name of the kind; it holds no values.
    case .refused(let kind): self = .internalFault("database refused: \(kind)")
    }
  }
}
