/// How long to wait before deletes are tried again: 30 s, doubling, at most 10 min. Pure.
struct Backoff: Equatable {
  static let first: Int64 = 30_000
  static let longest: Int64 = 600_000

  private var pause = first

  /// The next pause, ms.
  mutating func next() -> Int64 {
    defer { pause = min(pause * 2, Self.longest) }
    return pause
  }

  /// All went well.
  mutating func reset() { pause = Self.first }
}
