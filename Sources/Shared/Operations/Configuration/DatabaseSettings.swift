package import Keys

/// Which database a program uses, and how hard.
package struct DatabaseSettings: Sendable {
  package enum Place: Sendable {
    /// The connection URL, which may hold a password.
    case postgres(url: Secret)
    /// The folder of the SQLite file, from the root: programs that were started in different folders would else share a
    /// setting and no database, and nobody could see it.
    case sqlite(dataDirectory: String)
  }

  /// Where SQLite lives when nothing is set: `data` under the working directory.
  package static let defaultDataDirectory = "data"

  package let place: Place
  /// The most Postgres connections that the process opens, 1 to 200.
  package let poolMax: Int

  init(_ settings: inout Settings) {
    poolMax = settings.integer("ORCA_PUSH_DATABASE_POOL_MAX", in: 1...200) ?? 10
    let directory = settings.text("ORCA_PUSH_DATA_DIR") ?? Self.defaultDataDirectory
    if directory.hasPrefix("~") {
      settings.refuse(
        "ORCA_PUSH_DATA_DIR", "must not begin with ~, which a shell resolves and nobody else: give the whole path")
    }
    guard let url = settings.text("ORCA_PUSH_DATABASE_URL") else {
      place = .sqlite(dataDirectory: AbsolutePath.of(directory))
      return
    }
    if !url.hasPrefix("postgres://") && !url.hasPrefix("postgresql://") {
      settings.refuse("ORCA_PUSH_DATABASE_URL", "must begin with postgres:// or postgresql://")
    } else if url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }) {
      settings.refuse("ORCA_PUSH_DATABASE_URL", "must not hold white space or control characters: escape them with %")
    }
    place = .postgres(url: Secret(url))
  }
}
