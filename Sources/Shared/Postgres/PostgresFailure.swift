/// Why a statement gave no rows.
package enum PostgresFailure: Error, Equatable, Sendable {
  /// No connection could be had, or it broke under the statement, which may or may not have been carried out.
  /// The reason never holds a password.
  case unreachable(String)
  /// The deadline passed. The statement was called off; whether it was carried out before is not known.
  case timedOut
  /// Too many statements wait already. This one was not sent.
  case overloaded
  /// The server refused the statement (five characters of SQLSTATE), or a column was read as what it is not (42804, or
  /// 22004 for an unexpected null). The message may quote values: for developers, not for logs.
  case database(sqlState: String, message: String)
  /// The pool was closed.
  case closed

  /// Whether the same statement may well succeed a little later.
  package var isTransient: Bool {
    switch self {
    case .unreachable, .timedOut, .overloaded: true
    case .closed: false
    case .database(let sqlState, _):
      // Connection, transaction rollback, resources, operator intervention; lock not available; read-only after failover.
      ["08", "40", "53", "57"].contains(sqlState.prefix(2)) || sqlState == "55P03" || sqlState == "25006"
    }
  }

  /// The five characters of `database`, else nil.
  package var sqlState: String? {
    if case .database(let sqlState, _) = self { sqlState } else { nil }
  }
}
