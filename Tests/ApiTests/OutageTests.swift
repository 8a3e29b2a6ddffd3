import Foundation
import Json
import Postgres
import Stores
import Testing

/// Rulings 1.3: a database that is gone, hangs, or comes back.
@Suite struct OutageTests {
  private func isBusy(_ gateway: Gateway, _ ask: Ask) async throws -> Bool {
    let reply = try await gateway.ask(ask)
    return reply.verdict == "503 busy" && reply.headers["retry-after"] == "1"
  }

  private func becomesReady(_ gateway: Gateway) async throws {
    for _ in 0..<600 {
      if try await gateway.ask(.get("/ready")).status == 200 { return }
      try await Task.sleep(for: .milliseconds(100))
    }
    Issue.record("the api does not become ready")
  }

  @Test func `A database that is gone is told, and when it is back all goes on`() async throws {
    try await Server.use { server in
      let place = try await server.place()
      let gateway = try await Gateway.start(on: place)
      defer { gateway.process.killAtOnce() }
      let token = try await gateway.bearer()
      let phone = try await gateway.phone(token)
      try await server.stop()
      for ask in [
        Ask.post("/v1/host/challenge", Body.challenge()), .get("/v1/devices", bearer: token),
        .post("/v1/devices", Body.device("other"), bearer: token),
        .post("/v1/send", Body.send([phone], Body.notification(1)), bearer: token),
      ] {
        #expect(try await isBusy(gateway, ask))
      }
      let ready = try await gateway.ask(.get("/ready"))
      #expect(ready.status == 503)
      #expect(ready.json?["failing"]?.string == "database")
      #expect(try await gateway.ask(.get("/health")).status == 200)
      try await server.start()
      try await becomesReady(gateway)
      #expect(try await gateway.send(token, [phone], Body.notification(1)) == ["queued"])
      #expect(gateway.process.said.contains("requests were told to come again"))
    }
  }

  @Test func `A database out of reach at the start is waited for`() async throws {
    try await Server.use { server in
      let place = try await server.place()
      try await server.stop()
      let gateway = try await Gateway.start(on: place)
      defer { gateway.process.killAtOnce() }
      #expect(try await gateway.ask(.get("/health")).status == 200)
      #expect(try await gateway.ask(.get("/ready")).status == 503)
      #expect(try await isBusy(gateway, .post("/v1/host/challenge", Body.challenge())))
      #expect(try await gateway.ask(.post("/v1/host/challenge", "x")).verdict == "400 invalid_request")
      #expect(try await gateway.ask(.get("/v1/devices")).verdict == "401 invalid_token")
      try await server.start()
      try await becomesReady(gateway)
      _ = try await gateway.bearer()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A database that hangs is told while it hangs, and the send may be said again`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      let phone = try await gateway.phone(token)
      let hold = try await gateway.place.hold("push_events")
      let send = Ask.post("/v1/send", Body.send([phone], Body.notification(1)), bearer: token)
      #expect(try await isBusy(gateway, send))
      #expect(try await gateway.ask(.get("/health")).status == 200)
      try await hold.release()
      var reply = try await gateway.ask(send)
      while reply.verdict == "503 busy" { reply = try await gateway.ask(send) }
      #expect(reply.results == ["queued"])
      #expect(try await gateway.send(token, [phone], Body.notification(1)) == ["queued"])
    }
  }

  @Test func `With two connections and a locked table all of 500 sends are answered, then it serves`() async throws {
    try await StoreKind.postgres.use(["ORCA_PUSH_DATABASE_POOL_MAX": "2"]) { gateway in
      var hosts: [(token: String, phone: String)] = []
      for _ in 0..<10 {
        let token = try await gateway.bearer()
        hosts.append((token, try await gateway.phone(token)))
      }
      let asks = (0..<500 as Range<Int64>).map { number in
        let (token, phone) = hosts[Int(number) % hosts.count]
        return (gateway, Ask.post("/v1/send", Body.send([phone], Body.notification(number)), bearer: token))
      }
      let hold = try await gateway.place.hold("push_events", seconds: 600)
      let replies: Result<[Reply], any Error>
      do { replies = .success(try await Gateway.ask(asks, at: asks.count)) } catch { replies = .failure(error) }
      // All of them before anybody could get on.
      #expect(try await gateway.place.isHeld("push_events"))
      let connections = PostgresStatement(
        "select count(*) from pg_stat_activity where application_name = 'push-api' and datname = current_database()")
      #expect(try await gateway.place.pool?.run(connections).int8(0, 0) ?? 0 <= 2)
      try await hold.release()
      let verdicts = try replies.get().map(\.verdict)
      #expect(verdicts.count == asks.count)
      #expect(Set(verdicts).isSubset(of: ["503 busy", "429 rate_limited"]), "\(Set(verdicts))")

      for (token, phone) in hosts {
        let again = Ask.post("/v1/send", Body.send([phone], Body.notification(1_000)), bearer: token)
        var reply = try await gateway.ask(again)
        while reply.verdict == "503 busy" { reply = try await gateway.ask(again) }
        #expect(reply.results == ["queued"])
      }
    }
  }

  @Test func `A statement that the database refuses is a fault of ours, told without its cause`() async throws {
    try await StoreKind.postgres.use { gateway in
      let token = try await gateway.bearer()
      try await gateway.place.script("alter table push_devices rename to gone")
      let reply = try await gateway.ask(.get("/v1/devices", bearer: token))
      #expect(reply.status == 500)
      #expect(reply.text == #"{"error":"internal"}"#)
      let line = try await gateway.process.line("requests failed by a fault of the gateway")
      #expect(line["severity"]?.string == "ERROR")
      #expect(line["database refused: SQL state 42P01"]?.integer == 1)
    }
  }
}

/// A Postgres server of one test's own, which it may stop and start.
private struct Server {
  let folder: String

  static func use<T>(_ body: (Server) async throws -> T) async throws -> T {
    try await Turnstile.shared.pass {
      try await Folder.use { folder in
        let server = Server(folder: folder)
        try await server.start()
        let result: Result<T, any Error>
        do { result = .success(try await body(server)) } catch { result = .failure(error) }
        try? await server.stop()
        return try result.get()
      }
    }
  }

  func start() async throws { _ = try await script("start") }
  func stop() async throws { _ = try await script("stop") }

  /// A migrated database on it.
  func place() async throws -> Place {
    let url = try await script("start")
    let store = await PostgresStore(url: try PostgresUrl(url), maximum: 1) { _ in }
    _ = try await store.migrate()
    await store.close()
    return Place(environment: ["ORCA_PUSH_DATABASE_URL": url])
  }

  private func script(_ verb: String) async throws -> String {
    let folder = folder
    return try await blocking {
      let process = Process()
      process.executableURL =
        URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../scripts/test-postgres").standardized
      process.arguments = [verb, folder]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw Unexpected("test-postgres \(verb) failed") }
      let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }
}
