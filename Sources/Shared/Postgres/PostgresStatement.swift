/// A statement known when the program is built. Keep it in a `static let`.
///
/// Each connection prepares it once, at its first use there, under a name made from its text and the types of its
/// parameters. Where names do not work (a pooler in transaction mode) it is sent whole each time.
package struct PostgresStatement: Sendable {
  /// The text, with parameters `$1`, `$2`, …
  package let sql: StaticString
  /// FNV-1a of the text.
  let digest: UInt64

  package init(_ sql: StaticString) {
    self.sql = sql
    digest = sql.withUTF8Buffer { Fnv.hash($0) }
  }

  /// For libpq. A `StaticString` ends with a NUL.
  var text: UnsafePointer<CChar> {
    UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
