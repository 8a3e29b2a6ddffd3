import Foundation
import Http
import Json
import Loop
import Support
import Testing

/// A whole gateway of real programs: sandbox, api, worker, each in a process of its own.
struct Gateway {
  enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgres
    var testDescription: String { rawValue }
  }

  /// What the gateway calls itself, which is not where it listens: what hosts prove names the former.
  static let origin = "https://push.example"

  /// Where the api listens.
  let address: String
  /// The sandbox's control door.
  let control: String
  /// For what the programs of one test write; gone with it.
  let folder: URL
  let worker: Program
  /// What the worker was started with.
  let workerSettings: [String: String]
  /// How a program is told of the store.
  let store: [String: String]

  /// Changes what a worker is started with; the folder is the test's own, the sandbox's lies in it.
  typealias WorkerChange = (inout [String: String], URL) throws -> Void

  /// Starts one on a store of its own, runs `body`, and stops it whatever happens; every program must end with 0.
  ///
  /// - Parameter isNamed: whether it goes by a name that it is not reached by; else by its address.
  static func run(
    _ kind: StoreKind, isNamed: Bool = true, worker change: WorkerChange = { _, _ in },
    _ body: (Gateway) async throws -> Void
  ) async throws {
    switch kind {
    case .sqlite:
      let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      try await run(["ORCA_PUSH_DATA_DIR": folder.appending(path: "data").path], folder, isNamed, change, body)
    case .postgres:
      try await ScratchDatabase.use { database in
        try await run(on: database, isNamed: isNamed, worker: change, body)
      }
    }
  }

  /// The same on a database that is there.
  static func run(
    on database: ScratchDatabase, isNamed: Bool = true, worker change: WorkerChange = { _, _ in },
    _ body: (Gateway) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = ["ORCA_PUSH_DATABASE_URL": database.text]
    let migration = try Program("janitor", ["migrate"], environment: store)
    _ = try await migration.logged("the schema was brought up to date")
    #expect(await migration.stop() == 0)
    try await run(store, folder, isNamed, change, body)
  }

  private static func run(
    _ store: [String: String], _ folder: URL, _ isNamed: Bool, _ change: WorkerChange,
    _ body: (Gateway) async throws -> Void
  ) async throws {
    let sandboxFolder = folder.appending(path: "sandbox")
    let ports = ["control", "fcm", "metadata", "apns-production", "apns-sandbox"].flatMap { ["--\($0)-port", "0"] }
    let sandbox = try Program("sandbox", ["--dir", sandboxFolder.path] + ports)
    var programs = [sandbox]
    var failure: (any Error)?
    do {
      _ = try await sandbox.logged("ready")
      let places = try JsonReader.read(
        Array(try Data(contentsOf: sandboxFolder.appending(path: "sandbox.json"))))
      let port = isNamed ? 0 : try FreePort.find()
      let place = ["PORT": "\(port)", "ORCA_PUSH_PUBLIC_URL": isNamed ? origin : "http://127.0.0.1:\(port)"]
      let api = try Program("api", environment: store.merging(place) { _, new in new })
      programs.append(api)
      let listening = try #require(try await api.logged("serving")["port"]?.integer)

      var settings = store
      for (name, value) in places["workerEnvironment"]?.object?.members ?? [] { settings[name] = value.string }
      try change(&settings, folder)
      let worker = try Program("worker", environment: settings)
      programs.append(worker)
      _ = try await worker.logged("ready")
      let control = try #require(places["control"]?.string)
      try await body(
        Gateway(
          address: "http://127.0.0.1:\(listening)", control: control, folder: folder, worker: worker,
          workerSettings: settings, store: store))
    } catch {
      failure = error
    }
    for program in programs.reversed() {
      let code = await program.stop()
      #expect(code == 0, "\(program.name) ended with \(code)")
    }
    if let failure { throw failure }
  }

  /// Requests that the sandbox's servers of this provider answered with 200, once there are `count`; fewer after 20 s.
  func requests(_ provider: String, count: Int) async throws -> [JsonValue] {
    _ = try await ask("/requests/wait?provider=\(provider)&status=200&count=\(count)&timeoutMs=20000")
    let all = try await ask("/requests")["requests"]?.array ?? []
    return all.filter { $0["provider"]?.string == provider && $0["answer"]?["status"]?.integer == 200 }
  }

  /// Every request that the sandbox's servers of this provider have seen.
  func log(_ provider: String) async throws -> [JsonValue] {
    try await ask("/requests")["requests"]?.array?.filter { $0["provider"]?.string == provider } ?? []
  }

  /// Tells the sandbox how to answer.
  @LoopActor
  func script(_ json: String) async throws {
    let url = try #require(Url(control + "/script"))
    let answer = try await Http1Client.send("POST", url, body: Array(json.utf8), deadline: 10_000)
    #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
  }

  @LoopActor
  private func ask(_ path: String) async throws -> JsonValue {
    let url = try #require(Url(control + path))
    return try JsonReader.read(try await Http1Client.send("GET", url, deadline: 30_000).body)
  }
}
