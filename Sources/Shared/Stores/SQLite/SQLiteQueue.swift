internal import SQLite

/// How the queue's rows are written in SQLite.
enum SQLiteQueue {
  /// A place in the fair order: a time in ms, made unique. Inside a transaction only.
  static func turn(_ file: SQLiteFile, at milliseconds: Int64) throws -> Int64 {
    let tie = try file.run("update push_turn_tie set last = last + 1 returning last").first?.integer(0) ?? 0
    return milliseconds << 20 | (tie & 0xfffff)
  }

  static func list(_ devices: [Int64]) -> String { devices.map(String.init).joined(separator: ",") }

  static func devices(_ list: String) -> [Int64] { list.split(separator: ",").compactMap { Int64($0) } }
}
