internal import CSQLite
internal import Glibc
internal import Loop

/// How a connection waits for a lock that another process holds: until that says that it is done, and every other
/// millisecond it looks by itself, for a while.
///
/// SQLite's own way is to wait longer each time, up to 100 ms. On a file that several processes write all the time, the lock
/// is then taken by whoever came last, and who has waited longest waits on.
final class SQLitePatience {
  private let milliseconds: Int
  private let turn: TurnFile?
  private var end = Monotonic.now

  /// - Parameters:
  ///   - milliseconds: for how long a lock is waited for at most.
  ///   - turn: where the others say that they are done.
  init(milliseconds: Int, turn: TurnFile?) {
    self.milliseconds = milliseconds
    self.turn = turn
  }

  /// Makes the connection wait so. It must not outlive this object.
  func govern(_ connection: OpaquePointer) {
    sqlite3_busy_handler(
      connection,
      { context, looks in
        guard let context else { return 0 }
        return Unmanaged<SQLitePatience>.fromOpaque(context).takeUnretainedValue().wait(looks) ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Waits a moment; false when it has been long enough. `looks` counts the looks at one lock so far.
  private func wait(_ looks: Int32) -> Bool {
    let now = Monotonic.now
    if looks == 0 { end = now.advanced(milliseconds: milliseconds) }
    if now >= end { return false }
    if let turn {
      turn.wait(milliseconds: 2)
    } else {
      // Not all at the same time.
      usleep(UInt32.random(in: 500...2_500))
    }
    return true
  }
}
