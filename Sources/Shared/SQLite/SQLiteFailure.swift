/// Why SQLite did not do what it was asked.
package enum SQLiteFailure: Error, Equatable, Sendable {
  /// Another process kept the file locked for longer than the busy time-out.
  case busy
  /// The file or its folder cannot be written.
  case readOnly
  /// The file cannot be opened; says why and where.
  case cannotOpen(String)
  /// The disk is full.
  case full
  /// The file is not a database, or is damaged.
  case corrupt(String)
  /// A constraint of the schema refused the change.
  case constraint(String)
  /// Anything else, with SQLite's extended result code; code 20 for a column read as what it is not.
  case other(code: Int32, message: String)
}
