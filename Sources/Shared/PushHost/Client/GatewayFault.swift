/// Why a request to the gateway came to nothing. A value and no exception: the network fails every day.
///
/// It holds no token, key, title or body, so it may be logged.
public enum GatewayFault: Error, Equatable, Sendable {
  /// No answer, or none that a gateway would give. The request may have been carried out all the same; repeating it is free.
  case unreachable(Unreachable)
  /// The gateway or this host said no; the same request will be refused again.
  case rejected(Rejection)
  /// Too many requests; in how many seconds it is worth trying, 1 to 3600.
  case throttled(retryAfter: Int)
}

/// How the gateway was not to be reached.
public enum Unreachable: Equatable, Sendable {
  /// Nobody could tell the address of the gateway's name.
  case unknownName
  /// Nobody listens at the address.
  case refused
  /// There is no way to the address, or the connection broke.
  case noConnection
  /// TLS could not be agreed on, or the certificate is none to go by.
  case tls(TlsTrouble)
  /// No answer within the deadline.
  case deadline
  /// An answer that is not in the contract: something else listens there.
  case garbled
  /// 5xx: the gateway's own trouble, with the code that it gave, if any.
  case serverFault(status: Int, code: String?)
}

/// What is wrong with a gateway's TLS.
public enum TlsTrouble: Equatable, Sendable {
  /// Nobody whom this machine trusts vouches for the certificate.
  case untrusted
  /// The certificate has ended or has yet to begin, or this machine's clock is wrong.
  case outdated
  /// The certificate is for another name.
  case otherName
  /// No TLS could be agreed on: it may speak none.
  case noAgreement
}

/// What was said no to.
public struct Rejection: Equatable, Sendable {
  /// The HTTP status; nil when this host refused by itself and asked nobody, or did not believe the answer.
  public let status: Int?
  /// The contract's error code, or one of this host's own: `invalid_request`, `redirect`, `refused_proof`, `http`.
  public let reason: String
  /// One line for people: the member and the rule, as far as anyone said.
  public let detail: String?

  init(status: Int? = nil, reason: String, detail: String? = nil) {
    self.status = status
    self.reason = reason
    self.detail = detail
  }
}

extension Rejection {
  /// Whether what refused speaks HTTP but not the contract.
  var isNoGateway: Bool { status != nil && reason == "http" }
}

extension GatewayFault: CustomStringConvertible {
  /// One line for a log or an operator.
  public var description: String { description(at: "the gateway") }

  /// The same, which says where the gateway was looked for.
  public func description(at gateway: String) -> String {
    switch self {
    case .unreachable(let why): why.description(at: gateway)
    case .rejected(let why) where why.isNoGateway:
      "\(gateway) answers \(why.status ?? 0), but not as a push gateway"
    case .rejected(let why):
      "the request was refused: \(why.reason)" + (why.status.map { " (\($0))" } ?? "")
        + (why.detail.map { ": \($0)" } ?? "")
    case .throttled(let seconds): "too many requests: try again in \(seconds) s"
    }
  }

  /// The kind alone, for counting: `unreachable`, `rejected`, `throttled`.
  public var category: String {
    switch self {
    case .unreachable: "unreachable"
    case .rejected: "rejected"
    case .throttled: "throttled"
    }
  }

  /// The kind, and why the gateway was unreachable: one of few words, for counting too.
  var kind: String {
    if case .unreachable(let why) = self { "\(category) (\(why.cause))" } else { category }
  }
}

extension Unreachable {
  fileprivate func description(at gateway: String) -> String {
    switch self {
    case .unknownName, .refused, .noConnection: "\(gateway) cannot be reached: \(cause)"
    case .tls(.noAgreement): "TLS with \(gateway) failed: it may speak none"
    case .tls: "TLS with \(gateway) failed: \(cause)"
    case .deadline: "\(gateway) timed out: no answer in \(GatewayClient.deadline / 1000) s"
    case .garbled: "\(gateway) answers, but not as a push gateway"
    case .serverFault(let status, nil): "\(gateway) answers \(status), but not as a push gateway"
    case .serverFault(let status, let code?): "\(gateway) has trouble of its own: \(code) (\(status))"
    }
  }

  fileprivate var cause: String {
    switch self {
    case .unknownName: "its name cannot be resolved"
    case .refused: "connection refused"
    case .noConnection: "no way there, or the connection broke"
    case .tls(.untrusted): "its certificate is not trusted"
    case .tls(.outdated): "its certificate is out of date"
    case .tls(.otherName): "its certificate is for another name"
    case .tls(.noAgreement): "no TLS"
    case .deadline: "timed out"
    case .garbled: "no gateway's answer"
    case .serverFault(let status, _): "\(status)"
    }
  }
}
