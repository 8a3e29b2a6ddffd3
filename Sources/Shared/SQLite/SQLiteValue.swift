/// A parameter of a statement, or a column of a row.
package enum SQLiteValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])
}
