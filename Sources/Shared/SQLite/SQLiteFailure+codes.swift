internal import CSQLite

extension SQLiteFailure {
  /// What a result code of SQLite means. `message` may be SQLite's own; it names tables and columns, not values.
  init(code: Int32, message: String) {
    switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
    case SQLITE_READONLY: self = .readOnly
    case SQLITE_FULL: self = .full
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: self = .cannotOpen(message)
    case SQLITE_NOTADB, SQLITE_CORRUPT: self = .corrupt(message)
    case SQLITE_CONSTRAINT: self = .constraint(message)
    default: self = .other(code: code, message: message)
    }
  }

  static func mismatch(_ column: Int) -> SQLiteFailure {
    .other(code: SQLITE_MISMATCH, message: "column \(column) does not hold that type")
  }
}
