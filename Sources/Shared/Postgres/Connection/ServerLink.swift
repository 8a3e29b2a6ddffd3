internal import CPostgres

/// Owns one libpq connection. Its socket closes when the last owner lets go, so the loop must have forgotten it before.
final class ServerLink {
  let raw: OpaquePointer

  /// Takes the connection over.
  init(_ raw: OpaquePointer) {
    self.raw = raw
    // What the server only mentions would be printed to standard error.
    PQsetNoticeReceiver(raw, { _, _ in }, nil)
  }
  deinit { PQfinish(raw) }

  var socket: Int32 { PQsocket(raw) }
  var isBroken: Bool { PQstatus(raw) == CONNECTION_BAD }

  /// libpq's last complaint, on one line. It names hosts and roles, never passwords.
  var complaint: String {
    String(cString: PQerrorMessage(raw)).split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}

/// What a result says, apart from its rows.
enum ResultFailure {
  static func of(_ result: OpaquePointer) -> PostgresFailure {
    // The codes of PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY, character macros that Swift does not import.
    func field(_ code: Character) -> String? {
      PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
    }
    // libpq's own failures have no SQLSTATE: the connection is gone.
    guard let sqlState = field("C") else {
      return .unreachable(
        String(cString: PQresultErrorMessage(result)).split(whereSeparator: \.isNewline).joined(separator: " "))
    }
    // query_canceled: by `statement_timeout`, which is the deadline as the server keeps it, or by our own cancel.
    if sqlState == "57014" { return .timedOut }
    return .database(sqlState: sqlState, message: field("M") ?? "")
  }
}
