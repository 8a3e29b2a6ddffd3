internal import Glibc
package import Loop

/// The shell around a program: what it is given, how it is told to stop, and how it ends.
///
///     @main enum Api {
///       static func main() {
///         Service.run("api", usage: usage) { service in
///           let configuration = try ApiConfiguration(environment: service.environment)
///           ...
///           await service.terminated()
///           server.drain()
///           await server.waitUntilIdle(milliseconds: service.remaining)
///         }
///       }
///     }
///
/// The program ends with 0 when the body returns, and with a ``ProgramFailure``'s code when it throws.
@LoopActor
package final class Service {
  package let program: String
  package let environment: [String: String]
  package let build: BuildIdentity
  package let log: Log
  /// Called at SIGHUP.
  package var reloaded: (@LoopActor () -> Void)?

  private var drain: Drain
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var signals: Signals?
  private let started = Monotonic.now

  /// How long after the end of the grace a program that still runs is ended by force, in ms.
  private static let patience = 1_000

  /// Runs `body` on the loop and ends the process with it. Called once, from `main`.
  ///
  /// - Parameters:
  ///   - usage: what `--help` prints instead of running; nil where the command line is not the program's own.
  ///   - grace: how long what runs may take to end after SIGTERM, in ms (rulings 6.12).
  ///   - logs: false for a tool whose standard output is its answer.
  package nonisolated static func run(
    _ program: String, usage: String? = nil, grace: Int = 8_000, logs: Bool = true,
    _ body: @escaping @Sendable @LoopActor (Service) async throws -> Void
  ) -> Never {
    if let usage, asksForHelp(Array(CommandLine.arguments.dropFirst())) {
      put(usage + "\n", STDOUT_FILENO)
      exit(0)
    }
    // Before the loop's thread is started.
    Signals.prepare()
    // The preference keeps on the loop whatever the program starts.
    Task(executorPreference: EventLoop.shared) { await Service(program, grace: grace, logs: logs).live(body) }
    // Everything happens on the loop's thread; this one has nothing to do.
    while true { pause() }
  }

  /// Whether a command line asks for help: by its first word, or by its last behind a command.
  nonisolated static func asksForHelp(_ words: [String]) -> Bool {
    guard let first = words.first, let last = words.last else { return false }
    return [first, last].contains { $0 == "--help" || $0 == "-h" }
  }

  private init(_ program: String, grace: Int, logs: Bool) {
    self.program = program
    environment = ProcessEnvironment.current
    build = BuildIdentity(environment: environment)
    log = Log(program: program, minimum: logs ? .info : nil)
    drain = Drain(grace: grace)
  }

  /// Whether the program has been told to stop.
  package var isDraining: Bool { !drain.isServing }

  /// How long what runs may still take to end, in ms; the whole grace before the program is told to stop.
  package var remaining: Int { drain.remaining(now: .now) }

  /// Waits until the program is told to stop.
  package func terminated() async {
    // Looked at inside: nothing may come between the look and the wait.
    await withCheckedContinuation { waiter in
      if isDraining { waiter.resume() } else { waiters.append(waiter) }
    }
  }

  /// Stops the program as SIGTERM does.
  package func terminate() {
    guard drain.begin(now: .now) else { return }
    log.notice("draining", ["seconds": .integer(remaining / 1000)])
    EventLoop.shared.after(milliseconds: remaining + Self.patience) { [log] in
      log.error("still running after the time to drain, ending by force")
      Self.exit(ProgramFailure.Code.fault.rawValue)
    }
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  private func live(_ body: @Sendable @LoopActor (Service) async throws -> Void) async -> Never {
    end(await outcome(of: body))
  }

  private func outcome(of body: @Sendable @LoopActor (Service) async throws -> Void) async -> ProgramFailure? {
    signals = Signals { [weak self] signal in
      switch signal {
      case .terminate: self?.terminate()
      case .reload: self?.reloaded?()
      }
    }
    log.notice("starting", ["version": .text(build.version), "revision": .text(build.revision)])
    for name in KnownVariables.strangers(in: environment) {
      log.warning("no program knows this variable: is it misspelt?", ["variable": .text(name)])
    }
    do {
      try await body(self)
      return nil
    } catch {
      return ProgramFailure(error)
    }
  }

  private func end(_ failure: ProgramFailure?) -> Never {
    let code = failure?.code.rawValue ?? 0
    log.write(
      failure == nil ? .notice : .critical, "stopped",
      ["code": .integer(Int64(code)), "seconds": .number(Monotonic.now.seconds(since: started))])
    for line in failure?.description.split(separator: "\n") ?? [] { Self.put("\(program): \(line)\n", STDERR_FILENO) }
    Self.exit(code)
  }

  private nonisolated static func put(_ text: String, _ descriptor: Int32) {
    let bytes = Array(text.utf8)
    _ = write(descriptor, bytes, bytes.count)
  }

  /// Without the exit handlers of the C libraries, which other threads may still be using.
  private nonisolated static func exit(_ code: Int32) -> Never {
    fflush(nil)
    _exit(code)
  }
}
