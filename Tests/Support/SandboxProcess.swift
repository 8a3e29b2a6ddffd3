import Foundation
internal import Http
package import Json
internal import Loop
package import Tls

/// A sandbox of its own for a test: the program beside the tests, on ports that were free. It ends with the test process
/// at the latest, since it watches its standard input.
package final class SandboxProcess: Sendable {
  /// Why no sandbox came up.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
  }

  /// The folder with `ca.pem`, `worker.env` and the rest.
  package let directory: String
  /// What `sandbox.json` holds.
  package let description: JsonValue
  /// Trusts the sandbox's authority. One for all, since the system's roots take long to read.
  package let trust: TlsClientContext
  private let program: Process
  private let input: Pipe
  private let control: String

  /// Starts a sandbox and waits until it listens. One sandbox serves a whole suite well: rules go by token.
  package static func start(directory: String? = nil, arguments: [String] = []) async throws -> SandboxProcess {
    let folder = directory ?? NSTemporaryDirectory() + "sandbox-" + UUID().uuidString
    return try await withCheckedThrowingContinuation { waiter in
      // Starting blocks, so it has a thread of its own.
      Thread.detachNewThread { waiter.resume(with: Result { try SandboxProcess(folder, arguments) }) }
    }
  }

  private init(_ directory: String, _ arguments: [String]) throws {
    let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let program = Process()
    let (input, output) = (Pipe(), Pipe())
    program.executableURL = Self.executable(near: products)
    program.arguments =
      ["--dir", directory, "--stop-at-eof"]
      + ["apns-production", "apns-sandbox", "fcm", "metadata", "control"].flatMap { ["--\($0)-port", "0"] } + arguments
    program.standardInput = input
    program.standardOutput = output
    try program.run()
    var text = ""
    while !text.contains("\"ready") {
      let bytes = output.fileHandleForReading.availableData
      if bytes.isEmpty { throw Failure("the sandbox ended at its start: \(text)") }
      text += String(decoding: bytes, as: UTF8.self)
    }
    // What it still says is let go, or a full pipe would be in its way.
    PipeReader.start(output)
    self.directory = directory
    self.program = program
    self.input = input
    description = try JsonReader.read(Array(try Data(contentsOf: URL(fileURLWithPath: directory + "/sandbox.json"))))
    trust = try TlsClientContext(additionalRoots: String(contentsOfFile: directory + "/ca.pem", encoding: .utf8))
    guard let control = description["control"]?.string else { throw Failure("sandbox.json lacks control") }
    self.control = control
  }

  /// It ends by itself at the end of its input. Nobody waits for that here: the last owner may be the loop, which would
  /// stand still meanwhile, and with it every test.
  deinit { try? input.fileHandleForWriting.close() }

  /// Ends the program; waits until it has.
  package func stop() {
    try? input.fileHandleForWriting.close()
    program.waitUntilExit()
  }

  private static func executable(near products: URL) -> URL {
    products.appendingPathComponent("sandbox")
  }

  // MARK: What a worker needs

  /// A variable of `worker.env`; empty when there is none.
  package func setting(_ name: String) -> String { description["workerEnvironment"]?[name]?.string ?? "" }

  /// All of `worker.env`.
  package var workerEnvironment: [String: String] {
    var environment: [String: String] = [:]
    for (name, value) in description["workerEnvironment"]?.object?.members ?? [] { environment[name] = value.string }
    return environment
  }

  // MARK: Control

  /// Follows a script (`POST /script`); throws what the sandbox says against it.
  package func script(_ json: String) async throws { _ = try await call("POST", "/script", json) }

  /// Forgets all scripts.
  package func forgetScripts() async throws { _ = try await call("DELETE", "/script") }

  /// Requests with a number beyond `since`, oldest first; those for `token` alone when one is given.
  package func requests(since: Int = 0, token: String? = nil) async throws -> [JsonValue] {
    var all: [JsonValue] = []
    let filter = token.map { "&token=\($0)" } ?? ""
    while true {
      // A page fits into what the client takes.
      let last = all.last?["number"]?.integer.map(Int.init) ?? since
      let page = try await call("GET", "/requests?since=\(last)&limit=250\(filter)")["requests"]?.array ?? []
      if page.isEmpty { return all }
      all += page
    }
  }

  /// Waits until `count` requests have ended that fit `filter`, e.g. `provider=apns&status=200`; whether that came about.
  package func wait(for count: Int, _ filter: String = "", milliseconds: Int = 10_000) async throws -> Bool {
    let path = "/requests/wait?count=\(count)&timeoutMs=\(milliseconds)&\(filter)"
    return try await call("GET", path, deadline: milliseconds + 5_000)["reached"] == .bool(true)
  }

  /// Counts since the start or the last reset.
  package func summary() async throws -> JsonValue { try await call("GET", "/summary") }

  /// What the phones show.
  package func tray() async throws -> JsonValue { try await call("GET", "/tray") }

  /// Any call to the control port; throws unless it is answered with 200 and JSON.
  @LoopActor
  package func call(
    _ method: String, _ path: String, _ body: String = "", deadline: Int = 30_000
  ) async throws -> JsonValue {
    guard let url = Url(control + path) else { throw Failure("\(path) is no path") }
    let reply = try await Http1Client.send(
      method, url, body: Array(body.utf8), deadline: deadline, resolver: .literal)
    let text = String(decoding: reply.body, as: UTF8.self)
    guard reply.status == 200 else { throw Failure("\(method) \(path): \(reply.status) \(text)") }
    return try JsonReader.read(reply.body, maxMembers: 200_000)
  }
}
