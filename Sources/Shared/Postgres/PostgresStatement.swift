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
}

enum Fnv {
  static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }
}
