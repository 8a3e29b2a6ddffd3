internal import Loop

/// When what the log told once is told again, while it lasts. Pure.
///
/// Whoever watches the log alone, as an alert on Google Cloud does, could not tell otherwise whether it is over.
struct Reminder {
  /// ms.
  static let interval = 60_000

  private var next: Monotonic?

  /// True where a minute has gone by since it began or was last told. Asked often, and with `lasts` false once it is over.
  mutating func isDue(while lasts: Bool, _ now: Monotonic) -> Bool {
    guard lasts else {
      next = nil
      return false
    }
    let isDue = next.map { $0 <= now } ?? false
    if isDue || next == nil { next = now.advanced(milliseconds: Self.interval) }
    return isDue
  }
}
