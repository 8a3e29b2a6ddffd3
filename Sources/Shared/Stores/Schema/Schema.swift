/// The schema that this build knows.
package enum Schema {
  /// The number of the newest step. A program serves no database with another one, unless that one says that it
  /// serves this build too.
  package static let version = 9

  /// The oldest build, by its `version`, that works on with the schema of this one: steps add, and what an older build
  /// reads and calls goes only in a later release. During a rollout, and after a rollback, both run on the newer schema.
  /// Builds before 3 did not ask, and refuse whatever is newer.
  package static let serves = 3

  /// Says what to mend when a database is not at `version`; nil when it is.
  package static func mismatch(found: Int) -> String? {
    if found == version { return nil }
    if found < version {
      return "the database has schema \(found), this build needs \(version): run `janitor migrate`"
    }
    return "the database has schema \(found), this build knows only \(version): deploy a newer build"
  }
}
