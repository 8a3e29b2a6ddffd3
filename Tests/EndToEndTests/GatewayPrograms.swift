import Http
import Json
import Loop
import Testing

/// The api and the workers of a gateway, which come and go.
actor GatewayPrograms {
  private(set) var workers: [Program] = []
  private var api: Program?
  /// Where operators ask the workers, in the same order; empty where the test gives a worker no such port.
  private var operators: [String] = []
  /// What has been read of all that they print.
  private var printed: [String] = []
  private let apiSettings: [String: String]
  private let workerSettings: [String: String]

  init(api: [String: String], worker: [String: String]) {
    apiSettings = api
    workerSettings = worker
  }

  private var all: [Program] { workers + [api].compactMap { $0 } }

  /// Starts the api, in place of one that is gone; its address.
  @discardableResult
  func startApi() async throws -> String {
    let api = try Program("api", environment: apiSettings)
    self.api = api
    return "http://127.0.0.1:\(try #require(try await logged("serving", by: api)["port"]?.integer))"
  }

  /// Starts one more worker.
  @discardableResult
  func startWorker(_ settings: [String: String] = [:]) async throws -> Program {
    let worker = try Program("worker", environment: workerSettings.merging(settings) { $1 })
    workers.append(worker)
    operators.append("")
    let port = try await logged("ready", by: worker)["metricsPort"]?.integer
    operators[operators.count - 1] = port.map { "http://127.0.0.1:\($0)" } ?? ""
    return worker
  }

  /// Starts a worker that must end by itself; its exit code and all that it says.
  func failingWorker(_ settings: [String: String]) async throws -> (code: Int32, text: String) {
    let worker = try await Command.run(
      "worker", [], environment: workerSettings.merging(settings) { $1 }, killedAfter: 60_000)
    return (worker.code, worker.output + worker.errors)
  }

  /// Reads on to the oldest worker's line whose message starts so.
  func logged(_ message: String) async throws -> JsonValue {
    try await logged(message, by: try #require(workers.first))
  }

  private func logged(_ message: String, by program: Program) async throws -> JsonValue {
    while true {
      let line = try await program.line()
      printed.append(line)
      let json = try JsonReader.read(Array(line.utf8))
      if json["message"]?.string?.hasPrefix(message) == true { return json }
    }
  }

  /// kill -9 to all.
  func killAll() async {
    for program in all { await program.kill() }
    (workers, operators, api) = ([], [], nil)
  }

  /// Asks all to end as an operator does, which they must with 0; all that was read of what they printed.
  @discardableResult
  func stopAll() async -> [String] {
    for program in all { await stop(program) }
    (workers, operators, api) = ([], [], nil)
    return printed
  }

  /// Asks the oldest worker to end, which it must with 0.
  func stopWorker() async {
    operators.removeFirst()
    await stop(workers.removeFirst())
  }

  private func stop(_ program: Program) async {
    let code = await program.stop()
    #expect(code == 0, "\(program.name) ended with \(code)")
    printed += await program.rest()
  }

  /// What the oldest worker tells its operators at a path of theirs.
  func operatorsSee(_ path: String) async throws -> (status: Int, text: String) {
    try await Self.get(try #require(operators.first) + path)
  }

  @LoopActor
  private static func get(_ address: String) async throws -> (status: Int, text: String) {
    let answer = try await Http1Client.send("GET", try #require(Url(address)), deadline: 30_000)
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }
}
