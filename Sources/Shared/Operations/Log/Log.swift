internal import Glibc
internal import Loop

/// The program's log: one JSON object a line on standard output, as Cloud Logging reads it. Any thread may write.
///
/// A reader that stands still must not stop the program: a line that the descriptor does not take at once is dropped and
/// counted, and the next line that gets through says how many were lost.
package final class Log: Sendable {
  private struct State {
    /// Lines lost since the last one that got through.
    var dropped = 0
    var everDropped: UInt64 = 0
  }

  private let state = Locked(State())
  private let program: String
  private let descriptor: Int32
  private let minimum: Severity?
  private let clock: @Sendable () -> Int64

  /// - Parameters:
  ///   - program: goes into every line.
  ///   - descriptor: where lines go; standard output unless a test says otherwise. Not closed by the log.
  ///   - minimum: less important lines are not written; nil for none at all.
  ///   - clock: milliseconds since 1970.
  package init(
    program: String, descriptor: Int32 = STDOUT_FILENO, minimum: Severity? = .info,
    clock: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
  ) {
    self.program = program
    self.descriptor = descriptor
    self.minimum = minimum
    self.clock = clock
  }

  /// Lines lost since the start.
  package var dropped: UInt64 { state.withLock { $0.everDropped } }

  /// Writes a line. Texts longer than 500 characters are cut, a line never exceeds 4096 bytes.
  package func write(_ severity: Severity, _ message: String, _ fields: [String: LogField] = [:]) {
    guard let minimum, severity >= minimum else { return }
    let time = clock()
    state.withLock { state in
      let line = LogLine.bytes(
        severity, message, fields, program: program, milliseconds: time, dropped: state.dropped)
      if put(line) {
        state.dropped = 0
      } else {
        state.dropped += 1
        state.everDropped += 1
      }
    }
  }

  package func debug(_ message: String, _ fields: [String: LogField] = [:]) { write(.debug, message, fields) }
  package func info(_ message: String, _ fields: [String: LogField] = [:]) { write(.info, message, fields) }
  package func notice(_ message: String, _ fields: [String: LogField] = [:]) { write(.notice, message, fields) }
  package func warning(_ message: String, _ fields: [String: LogField] = [:]) { write(.warning, message, fields) }
  package func error(_ message: String, _ fields: [String: LogField] = [:]) { write(.error, message, fields) }
  package func critical(_ message: String, _ fields: [String: LogField] = [:]) { write(.critical, message, fields) }

  /// One `write` a line. The descriptor is shared with whoever started the program, so its flags are left alone; a pipe
  /// that polls as writable takes PIPE_BUF bytes without waiting, and a line is no longer than that.
  private func put(_ line: [UInt8]) -> Bool {
    var rest = line[...]
    while !rest.isEmpty {
      var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard poll(&ready, 1, 0) == 1, ready.revents & Int16(POLLOUT) != 0 else { return false }
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
