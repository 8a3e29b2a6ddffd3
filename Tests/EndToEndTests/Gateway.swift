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
  /// Its api and workers, the one below among them.
  let programs: GatewayPrograms
  let worker: Program
  /// What the worker was started with.
  let workerSettings: [String: String]
  /// How a program is told of the store.
  let store: [String: String]

  /// Changes what a worker is started with; the folder is the test's own, the sandbox's lies in it.
  typealias WorkerChange = (inout [String: String], URL) throws -> Void

  /// Starts one on a store of its own, runs `body`, and stops it whatever happens; every program must end with 0.
  ///
  /// - Parameters:
  ///   - workers: how many there are at first, one at least.
  ///   - isNamed: whether it goes by a name that it is not reached by; else by its address.
  static func run(
    _ kind: StoreKind, workers: Int = 1, isNamed: Bool = true, worker change: WorkerChange = { _, _ in },
    _ body: (Gateway) async throws -> Void
  ) async throws {
    switch kind {
    case .sqlite:
      let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      try await run(["ORCA_PUSH_DATA_DIR": folder.appending(path: "data").path], folder, workers, isNamed, change, body)
    case .postgres:
      try await ScratchDatabase.use { database in
        try await run(on: database, workers: workers, isNamed: isNamed, worker: change, body)
      }
    }
  }

  /// The same on a database that is there.
  static func run(
    on database: ScratchDatabase, workers: Int = 1, isNamed: Bool = true, worker change: WorkerChange = { _, _ in },
    _ body: (Gateway) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = ["ORCA_PUSH_DATABASE_URL": database.text]
    let migration = try Program("janitor", ["migrate"], environment: store)
    _ = try await migration.logged("the schema was brought up to date")
    #expect(await migration.stop() == 0)
    try await run(store, folder, workers, isNamed, change, body)
  }

  private static func run(
    _ store: [String: String], _ folder: URL, _ workers: Int, _ isNamed: Bool, _ change: WorkerChange,
    _ body: (Gateway) async throws -> Void
  ) async throws {
    let sandboxFolder = folder.appending(path: "sandbox")
    let ports = ["control", "fcm", "metadata", "apns-production", "apns-sandbox"].flatMap { ["--\($0)-port", "0"] }
    let sandbox = try Program("sandbox", ["--dir", sandboxFolder.path] + ports)
    var started: GatewayPrograms?
    var failure: (any Error)?
    do {
      _ = try await sandbox.logged("ready")
      let places = try JsonReader.read(
        Array(try Data(contentsOf: sandboxFolder.appending(path: "sandbox.json"))))
      let port = isNamed ? 0 : try FreePort.find()
      let place = ["PORT": "\(port)", "ORCA_PUSH_PUBLIC_URL": isNamed ? origin : "http://127.0.0.1:\(port)"]
      var settings = store.merging(["ORCA_PUSH_METRICS_PORT": "0"]) { $1 }
      for (name, value) in places["workerEnvironment"]?.object?.members ?? [] { settings[name] = value.string }
      try change(&settings, folder)
      let programs = GatewayPrograms(api: store.merging(place) { $1 }, worker: settings)
      started = programs
      let address = try await programs.startApi()
      let worker = try await programs.startWorker()
      for _ in 1..<workers { try await programs.startWorker() }
      let control = try #require(places["control"]?.string)
      try await body(
        Gateway(
          address: address, control: control, folder: folder, programs: programs, worker: worker,
          workerSettings: settings, store: store))
    } catch {
      failure = error
    }
    _ = await started?.stopAll()
    let code = await sandbox.stop()
    #expect(code == 0, "sandbox ended with \(code)")
    if let failure { throw failure }
  }

  /// Requests that the sandbox's servers of this provider answered with 200, once there are `count`; fewer after 20 s.
  func requests(_ provider: String, count: Int) async throws -> [JsonValue] {
    try await answered(provider, count: count)
    return try await log(provider).filter { $0["answer"]?["status"]?.integer == 200 }
  }

  /// Waits until the sandbox's servers of this provider have answered `count` requests with 200, 20 s at most.
  func answered(_ provider: String, count: Int) async throws {
    _ = try await ask("/requests/wait?provider=\(provider)&status=200&count=\(count)&timeoutMs=20000")
  }

  /// Every request that the sandbox's servers of this provider have seen; those for `token` alone when one is given.
  func log(_ provider: String, token: String? = nil) async throws -> [JsonValue] {
    let token = token.map { "&token=\($0)" } ?? ""
    var all: [JsonValue] = []
    // An answer has a bound, so they come in pages.
    while true {
      let since = all.last?["number"]?.integer ?? 0
      let page = try await ask("/requests?limit=250&since=\(since)" + token)["requests"]?.array ?? []
      if page.isEmpty { break }
      all += page
    }
    return all.filter { $0["provider"]?.string == provider }
  }

  /// The request for `token` behind `count` others, once it has come; waits for it.
  func next(_ provider: String, _ count: Int, token: String) async throws -> JsonValue {
    while true {
      // Counted before looking: whatever comes after the look ends the wait below.
      let settled = try await ask("/requests/wait?count=0")["count"]?.integer ?? 0
      let requests = try await log(provider, token: token)
      if requests.count > count { return requests[count] }
      _ = try await ask("/requests/wait?count=\(settled + 1)&timeoutMs=5000")
    }
  }

  /// How many requests have come to the sandbox's servers.
  func arrived() async throws -> Int { Int(try await ask("/requests?limit=0")["total"]?.integer ?? 0) }

  /// Waits until a request for `token` has reached the sandbox, which need not have answered it.
  func arrived(_ provider: String, _ token: String) async throws {
    while true {
      // Counted before looking: whatever comes after the look ends the wait below.
      let count = try await arrived()
      if try await !log(provider, token: token).isEmpty { return }
      _ = try await ask("/requests/wait?arrived=\(count + 1)&timeoutMs=5000")
    }
  }

  /// When the phone came to show an alert with this title, in Unix ms; waits for it.
  func shown(_ title: String, on phone: Phone) async throws -> Int64 {
    while true {
      // Counted before looking: whatever comes after the look ends the wait below.
      let count = try await ask("/requests/wait?count=0")["count"]?.integer ?? 0
      for one in try await ask("/tray")["phones"]?.array ?? [] where one["token"]?.string == phone.token {
        let alert = one["notifications"]?.array?.first { $0["title"]?.string == title }
        if let time = alert?["time"]?.integer { return time }
      }
      _ = try await ask("/requests/wait?count=\(count + 1)&timeoutMs=5000")
    }
  }

  /// Tells the sandbox how to answer.
  @LoopActor
  func script(_ json: String) async throws {
    let url = try #require(Url(control + "/script"))
    let answer = try await Http1Client.send("POST", url, body: Array(json.utf8), deadline: 10_000)
    #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
  }

  /// Forgets how it was told to answer.
  @LoopActor
  func forgetScript() async throws {
    _ = try await Http1Client.send("DELETE", try #require(Url(control + "/script")), deadline: 10_000)
  }

  @LoopActor
  private func ask(_ path: String) async throws -> JsonValue {
    let url = try #require(Url(control + path))
    return try JsonReader.read(try await Http1Client.send("GET", url, deadline: 30_000).body)
  }
}
