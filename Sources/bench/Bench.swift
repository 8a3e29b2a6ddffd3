internal import Glibc
internal import Loop

/// Parts of the gateway alone, so that they can be held beside others' figures.
///
///     SSL_CERT_FILE=authority.pem bench sender https://127.0.0.1:8443 STREAMS CONNECTIONS REQUESTS
///     SSL_CERT_FILE=authority.pem bench one-by-one postgres://… https://127.0.0.1:8443 LANES
///     bench straight FOLDER HOSTS SENDS GROUP
///
/// `sender` drives the worker's HTTP/2 client against a server, as h2load would. `one-by-one` claims, sends and finishes one
/// delivery at a time in each of its lanes until none is left. `straight` admits, claims and settles in one process on a
/// SQLite file. Each prints one line of JSON.
@main
enum Bench {
  private static let usage = """
    usage: bench sender https://HOST:PORT STREAMS CONNECTIONS REQUESTS
           bench one-by-one postgres://… https://HOST:PORT LANES
           bench straight FOLDER HOSTS SENDS GROUP
    """

  static func main() {
    signal(SIGPIPE, SIG_IGN)
    let words = Array(CommandLine.arguments.dropFirst())
    Task(executorPreference: EventLoop.shared) { await run(words) }
    while true { pause() }
  }

  @LoopActor
  private static func run(_ words: [String]) async -> Never {
    do {
      let rest = Array(words.dropFirst())
      if words.first == "sender", let plan = SenderPlan(rest) {
        print(try await Sender(plan).run())
      } else if words.first == "one-by-one", let pattern = try OneByOne(rest) {
        print(try await pattern.run())
      } else if words.first == "straight", let straight = Straight(rest) {
        print(try await straight.run())
      } else {
        complain(usage)
        exit(64)
      }
      exit(0)
    } catch {
      complain("bench: \(error)")
      exit(69)
    }
  }

  private static func complain(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }
}

/// Why nothing was measured.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
