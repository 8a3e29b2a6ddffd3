/// Where a database is, and how to log in. Its description leaves the password out.
package struct PostgresUrl: Sendable {
  /// Why a text is no connection text. Never holds a part of the text that could be the password.
  package struct Fault: Error, Equatable, Sendable {
    package let reason: String
  }

  /// Takes `postgres://` and `postgresql://` URLs and `key=value` lists, as libpq does, and one option of our own:
  /// `prepared=off` for a pooler in transaction mode between us and the server.
  package init(_ text: String) throws(Fault) {}
}
