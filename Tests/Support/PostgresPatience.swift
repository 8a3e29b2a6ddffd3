package import Postgres

extension PostgresLimits {
  /// As by default, but with ten minutes for a statement and for connecting: what is no test of a time limit must not meet
  /// one, however busy the machine is.
  package static var patient: PostgresLimits {
    var limits = PostgresLimits()
    limits.statementMilliseconds = 600_000
    limits.connectMilliseconds = 600_000
    return limits
  }
}
