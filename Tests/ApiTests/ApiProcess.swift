import Foundation
import Glibc
import Json

/// The api as it is built, run as a process of its own.
final class ApiProcess: @unchecked Sendable {
  // Guarded by `changed`: what the process said, and how it ended.
  private let changed = NSCondition()
  private var lines: [String] = []
  private var complaints: [String] = []
  private var openPipes = 2
  private var status: Int32?
  private let id: pid_t
  private static let spawning = NSLock()

  /// The program beside the test bundle.
  private static var path: String {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "api").path
  }

  /// Starts it with these variables and no others.
  init(_ environment: [String: String], _ words: [String] = []) throws {
    var output: [Int32] = [0, 0]
    var errors: [Int32] = [0, 0]
    // Another process that inherited a pipe's end would keep it open.
    Self.spawning.lock()
    defer { Self.spawning.unlock() }
    guard pipe(&output) == 0, pipe(&errors) == 0 else { throw Unexpected("no pipe") }
    for end in output + errors { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output[1], 1)
    posix_spawn_file_actions_adddup2(&actions, errors[1], 2)
    var arguments = ([Self.path] + words).map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var id = pid_t()
    let failure = posix_spawn(&id, Self.path, &actions, nil, &arguments, &variables)
    close(output[1])
    close(errors[1])
    guard failure == 0 else { throw Unexpected("cannot start \(Self.path): \(failure)") }
    self.id = id
    let child = id
    read(output[0]) { self.lines.append($0) }
    read(errors[0]) { self.complaints.append($0) }
    Thread.detachNewThread {
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0 && errno == EINTR {}
      self.change { self.status = status }
    }
  }

  private func read(_ descriptor: Int32, _ take: @escaping @Sendable (String) -> Void) {
    Thread.detachNewThread {
      var rest: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = Glibc.read(descriptor, &chunk, chunk.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { break }
        rest += chunk[..<count]
        while let end = rest.firstIndex(of: 10) {
          let line = String(decoding: rest[..<end], as: UTF8.self)
          rest.removeSubrange(...end)
          self.change { take(line) }
        }
      }
      close(descriptor)
      self.change { self.openPipes -= 1 }
    }
  }

  private func change(_ body: () -> Void) {
    changed.lock()
    body()
    changed.broadcast()
    changed.unlock()
  }

  /// Waits until `body` gives something; throws after two minutes, which only a process that hangs takes.
  private func wait<T: Sendable>(_ what: String, for body: @escaping @Sendable (ApiProcess) -> T?) async throws -> T {
    try await blocking {
      let end = Date(timeIntervalSinceNow: 120)
      self.changed.lock()
      defer { self.changed.unlock() }
      while true {
        if let found = body(self) { return found }
        if !self.changed.wait(until: end) {
          throw Unexpected("waited for \(what); said: \(self.lines) \(self.complaints)")
        }
      }
    }
  }

  /// Waits until it serves; the number that the line has under `port` or another name.
  func port(_ name: String = "port") async throws -> Int {
    let fields = try await line("serving")
    guard let port = fields[name]?.integer else { throw Unexpected("no \(name) in the log") }
    return Int(port)
  }

  /// Waits for a line of its log with that message.
  func line(_ message: String) async throws -> JsonValue {
    try await wait("a line “\(message)”") { process in
      if let line = process.parsed.first(where: { $0["message"]?.string == message }) { return line }
      return nil
    }
  }

  private var parsed: [JsonValue] { lines.compactMap { try? JsonReader.read(Array($0.utf8)) } }

  /// Everything that it has logged and complained of.
  var said: String {
    changed.lock()
    defer { changed.unlock() }
    return (lines + complaints).joined(separator: "\n")
  }

  func terminate() { kill(id, SIGTERM) }

  /// As a loss of power would end it.
  func killAtOnce() { kill(id, SIGKILL) }

  /// Waits until it has ended: its exit code (negative for a signal), and what it complained of.
  @discardableResult
  func ended() async throws -> (code: Int32, complaints: [String]) {
    try await wait("its end") { process in
      guard let status = process.status, process.openPipes == 0 else { return nil }
      let code = status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
      return (code, process.complaints)
    }
  }

  /// Whether it has ended.
  var hasEnded: Bool {
    changed.lock()
    defer { changed.unlock() }
    return status != nil
  }
}

/// Runs a call that blocks away from the threads that run the tests.
func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { waiter in
    Thread.detachNewThread { waiter.resume(with: Result { try body() }) }
  }
}

struct Unexpected: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
