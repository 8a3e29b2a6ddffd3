internal import CLinux

/// A point on the monotonic clock, for waits, deadlines and measurements inside one process. Never stored.
package struct Monotonic: Comparable, Hashable, Sendable {
  /// Since an arbitrary start, in nanoseconds.
  package let nanoseconds: UInt64

  package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  package static var now: Monotonic { Monotonic(nanoseconds: lx_monotonic_ns()) }

  package static func < (a: Monotonic, b: Monotonic) -> Bool { a.nanoseconds < b.nanoseconds }

  /// Later by `milliseconds`; a negative number counts as none.
  package func advanced(milliseconds: Int) -> Monotonic {
    Monotonic(nanoseconds: nanoseconds &+ UInt64(max(0, milliseconds)) &* 1_000_000)
  }

  /// Whole milliseconds from `earlier` to here, 0 when `earlier` is later.
  package func milliseconds(since earlier: Monotonic) -> Int {
    earlier >= self ? 0 : Int((nanoseconds - earlier.nanoseconds) / 1_000_000)
  }

  /// Seconds from `earlier` to here, 0 when `earlier` is later.
  package func seconds(since earlier: Monotonic) -> Double {
    earlier >= self ? 0 : Double(nanoseconds - earlier.nanoseconds) / 1e9
  }
}

/// The wall clock of this machine, for what leaves the process (log lines, token issue times) and for SQLite's rows.
package enum WallClock {
  /// Milliseconds since 1970.
  package static var milliseconds: Int64 { lx_wall_ms() }
}
