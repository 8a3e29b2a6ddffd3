/// Who may know whom. A file imports rooms of the floors below its own, and nothing else.
enum Plan {
  /// From the ground up. Rooms on one floor do not know each other.
  static let floors: [[String]] = [
    ["Json", "Loop"],
    ["Contract", "Tls"],
    ["Keys", "Proof", "Http", "Postgres", "SQLite"],
    ["Operations", "PushHost"],
    ["Stores", "Providers"],
    ["api", "worker", "janitor", "sandbox", "demo", "bench", "host"],
  ]

  /// Who may speak to each C library; Swift's own view of the system's is `Glibc`.
  static let owners: [String: Set<String>] = [
    "CLinux": ["Loop", "Tls", "Http", "Operations", "sandbox"],
    "CNghttp2": ["Http"],
    "COpenSSL": ["Keys", "Tls"],
    "CPostgres": ["Postgres"],
    "CSQLite": ["SQLite"],
    "CSodium": ["Proof"],
  ]

  /// Rooms that turn values into values and touch nothing.
  static let pure: Set = ["Json", "Contract", "Proof"]

  /// What others build into programs of their own, on machines without the gateway's C libraries: it knows these rooms
  /// and no more, and may use the whole of Foundation.
  static let abroad: [String: Set<String>] = [
    "PushHost": ["Json", "Contract", "Proof"], "host": ["Json", "PushHost"],
  ]

  /// What the toolchain brings that a room may use; FoundationEssentials only where it is really needed.
  static func toolchain(_ room: String) -> Set<String> {
    if abroad.keys.contains(room) { return ["Foundation", "FoundationNetworking"] }
    return pure.contains(room) ? [] : ["Glibc", "FoundationEssentials"]
  }

  static func floor(of room: String) -> Int? { floors.firstIndex { $0.contains(room) } }

  /// Everything that files of `room` may import.
  static func allowed(_ room: String) -> Set<String> {
    guard let floor = floor(of: room) else { return [] }
    let below = abroad[room] ?? Set(floors[..<floor].joined())
    let libraries = owners.filter { $0.value.contains(room) }.keys
    return below.union(libraries).union(toolchain(room))
  }
}
