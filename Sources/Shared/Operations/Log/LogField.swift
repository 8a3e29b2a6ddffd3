package import Contract

/// One value in a log line. Never a token, title, body, key or bearer; of a host its first 4 characters.
package enum LogField: Sendable, Equatable {
  case text(String)
  case integer(Int64)
  case number(Double)
  case bool(Bool)

  /// A host by the few characters that a log may hold (contract, "Logging").
  package static func host(_ host: HostFingerprint) -> LogField { .text(host.description) }

  package static func integer(_ integer: Int) -> LogField { .integer(Int64(integer)) }
}

extension LogField: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral
{
  package init(stringLiteral value: String) { self = .text(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .number(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
}
