/// The schema that this build knows.
package enum Schema {
  /// The number of the newest step. A program serves no database with another one.
  package static let version = 3

  /// Says what to mend when a database is not at `version`; nil when it is.
  package static func mismatch(found: Int) -> String? {
    if found == version { return nil }
    if found < version {
      return "the database has schema \(found), this build needs \(version): run `janitor migrate`"
    }
    return "the database has schema \(found), this build knows only \(version): deploy a newer build"
  }
}
