import Foundation
import Glibc
import Loop
import Testing

@testable import Operations

@Suite struct DrainTests {
  private let start = Monotonic(nanoseconds: 5_000_000_000)

  @Test func `It serves until told, then drains, then is done`() {
    var drain = Drain(grace: 8_000)
    #expect(drain.isServing && drain.remaining(now: start) == 8_000)
    drain.progress(inFlight: 0, now: start)
    #expect(drain.isServing)
    #expect(drain.begin(now: start) == true)
    #expect(!drain.isServing)
    #expect(drain.remaining(now: start.advanced(milliseconds: 3_000)) == 5_000)
    drain.progress(inFlight: 2, now: start.advanced(milliseconds: 3_000))
    #expect(drain.phase == .draining(until: start.advanced(milliseconds: 8_000)))
    drain.progress(inFlight: 0, now: start.advanced(milliseconds: 4_000))
    #expect(drain.phase == .done(clean: true))
    #expect(drain.remaining(now: start) == 0)
  }

  @Test func `Being told twice does not move the deadline`() {
    var drain = Drain(grace: 8_000)
    #expect(drain.begin(now: start) == true)
    #expect(drain.begin(now: start.advanced(milliseconds: 5_000)) == false)
    #expect(drain.phase == .draining(until: start.advanced(milliseconds: 8_000)))
  }

  @Test func `What has not ended in time is left`() {
    var drain = Drain(grace: 8_000)
    _ = drain.begin(now: start)
    drain.progress(inFlight: 1, now: start.advanced(milliseconds: 8_000))
    #expect(drain.phase == .done(clean: false))
    #expect(drain.begin(now: start) == false)
  }
}

/// Each runs in a process of its own.
@Suite struct ServiceTests {
  private func lines(_ bytes: [UInt8]?) -> [String] {
    String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test func `A program that ends well exits with 0 and tells when it began and ended`() async throws {
    let result = try #require(
      await #expect(processExitsWith: .exitCode(0), observing: [\.standardOutputContent]) {
        Service.run("api") { service in service.log.info("serving") }
      })
    let out = lines(result.standardOutputContent)
    #expect(out.contains { $0.contains(#""severity":"NOTICE""#) && $0.contains(#""message":"starting""#) })
    #expect(out.contains { $0.contains(#""program":"api""#) && $0.contains(#""message":"serving""#) })
    #expect(out.contains { $0.contains(#""message":"stopped""#) && $0.contains(#""code":0"#) })
  }

  @Test func `Faults of configuration exit with 78, one line each on standard error`() async throws {
    let result = try #require(
      await #expect(processExitsWith: .exitCode(78), observing: [\.standardErrorContent]) {
        Service.run("api") { _ in
          _ = try ApiConfiguration(environment: ["PORT": "x", "ORCA_PUSH_MODE": ""])
        }
      })
    let told = lines(result.standardErrorContent).filter { $0.hasPrefix("api: ") }
    #expect(told.map { $0.split(separator: " ")[1] } == ["PORT", "ORCA_PUSH_PUBLIC_URL", "ORCA_PUSH_MODE"])
  }

  @Test func `A failure exits with its code and its one line`() async throws {
    let result = try #require(
      await #expect(processExitsWith: .exitCode(69), observing: [\.standardErrorContent]) {
        Service.run("worker") { _ in throw ProgramFailure(.unavailable, "PORT 8080 is taken: choose another") }
      })
    #expect(lines(result.standardErrorContent).contains("worker: PORT 8080 is taken: choose another"))
  }

  @Test func `Of an unknown error only the kind is told`() async throws {
    struct Odd: Error, CustomStringConvertible { let description = "hunter2" }
    let result = try #require(
      await #expect(
        processExitsWith: .exitCode(70), observing: [\.standardErrorContent, \.standardOutputContent]
      ) { Service.run("worker") { _ in throw Odd() } })
    #expect(lines(result.standardErrorContent).contains("worker: stopped by a fault of its own: Odd"))
    #expect(!lines(result.standardErrorContent + result.standardOutputContent).joined().contains("hunter2"))
  }

  @Test func `A misspelt variable is pointed out by its name alone`() async throws {
    let result = try #require(
      await #expect(processExitsWith: .exitCode(0), observing: [\.standardOutputContent, \.standardErrorContent]) {
        setenv("ORCA_PUSH_PUBLC_URL", "hunter2", 1)
        setenv("ORCA_PUSH_REVISION", "r", 1)
        Service.run("api") { _ in }
      })
    let warnings = lines(result.standardOutputContent).filter { $0.contains(#""severity":"WARNING""#) }
    #expect(warnings.count == 1)
    #expect(warnings.first?.contains(#""variable":"ORCA_PUSH_PUBLC_URL""#) == true)
    #expect(!lines(result.standardOutputContent + result.standardErrorContent).joined().contains("hunter2"))
  }

  @Test(arguments: [
    ([], false), (["--help"], true), (["-h"], true), (["explain", "--help"], true), (["--help", "explain"], true),
    (["help"], false), (["explain", "-h", "e", "1"], false),
  ])
  func `Help is asked for by the first word or the last`(words: [String], isAsked: Bool) {
    #expect(Service.asksForHelp(words) == isAsked)
  }

  @Test(.timeLimit(.minutes(1)))
  func `SIGTERM begins the drain, and the program that drains exits with 0`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      Service.run("api") { service in
        precondition(!service.isDraining && service.remaining == 8_000)
        kill(getpid(), SIGTERM)
        await service.terminated()
        precondition(service.isDraining && service.remaining <= 8_000 && service.remaining > 7_000)
        await service.terminated()
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `A program that is started with its signals blocked listens to them all the same`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      var all = sigset_t()
      sigfillset(&all)
      pthread_sigmask(SIG_BLOCK, &all, nil)
      Service.run("api") { service in
        service.reloaded = { kill(getpid(), SIGTERM) }
        kill(getpid(), SIGHUP)
        await service.terminated()
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `SIGHUP asks to read anew and ends nothing`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      Service.run("worker") { service in
        service.reloaded = { service.terminate() }
        kill(getpid(), SIGHUP)
        await service.terminated()
      }
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: [SIGUSR1, SIGUSR2, SIGALRM])
  func `A signal that means nothing to a program does nothing to it`(number: Int32) async {
    await #expect(processExitsWith: .exitCode(0)) { [number] in
      // Whatever the tests were started with.
      var none = sigset_t()
      sigemptyset(&none)
      pthread_sigmask(SIG_SETMASK, &none, nil)
      signal(number, SIG_DFL)
      Service.run("api") { service in
        raise(number)
        precondition(!service.isDraining)
        kill(getpid(), SIGTERM)
        await service.terminated()
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `A program that does not come to an end is ended`() async {
    await #expect(processExitsWith: .exitCode(70)) {
      Service.run("api", grace: 50) { service in
        kill(getpid(), SIGINT)
        try await EventLoop.shared.sleep(milliseconds: 3_600_000)
      }
    }
  }

  @Test func `The environment is the process's`() {
    let variables = ProcessEnvironment.current
    #expect(variables["PATH"] == ProcessInfo.processInfo.environment["PATH"])
    #expect(variables.count == ProcessInfo.processInfo.environment.count)
  }
}
