package import Loop

/// Says once a minute how often things went wrong, where a line each would drown the log: the first count is logged at
/// once, what follows within the minute is summed up at its end.
@LoopActor
package final class LogTally {
  private let log: Log
  private let severity: Severity
  private let message: String
  private let interval: Int
  private var counts = TallyCounts()
  private var pause: Loop.Timer?

  /// - Parameter interval: ms between two lines at least.
  package init(_ log: Log, _ message: String, severity: Severity = .warning, interval: Int = 60_000) {
    self.log = log
    self.severity = severity
    self.message = message
    self.interval = interval
  }

  /// Counts a fault of that category. Categories name kinds, never who or what; beyond 32 they count as `other`.
  package func count(_ category: String, _ times: Int = 1) {
    counts.add(category, times)
    if pause == nil { flush() }
  }

  /// Logs what has gathered, now; to be called before the program ends.
  package func flush() {
    EventLoop.shared.cancel(pause)
    pause = nil
    guard let fields = counts.take() else { return }
    log.write(severity, message, fields)
    pause = EventLoop.shared.after(milliseconds: interval) { [weak self] in
      self?.pause = nil
      self?.flush()
    }
  }
}

/// The counts of one line to come. Pure.
struct TallyCounts {
  static let categoryLimit = 32
  private var counts: [String: Int] = [:]

  mutating func add(_ category: String, _ times: Int) {
    let known = counts[category] != nil || counts.count < Self.categoryLimit
    counts[known ? category : "other", default: 0] += times
  }

  /// The counts as fields, and none from here on; nil when there are none.
  mutating func take() -> [String: LogField]? {
    guard !counts.isEmpty else { return nil }
    defer { counts = [:] }
    return counts.mapValues { .integer($0) }
  }
}
