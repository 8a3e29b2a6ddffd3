import Foundation
import Glibc
import Json
import Postgres
import Testing

/// Rulings 8: what the api needs to start, and what it says when it lacks it.
@Suite struct StartTests {
  @Test func `Every fault of the configuration is told at once, a line each`() async throws {
    let process = try ApiProcess([
      "PORT": "70000", "ORCA_PUSH_PUBLIC_URL": "http://push.test.example/", "ORCA_PUSH_MODE": "",
      "ORCA_PUSH_DATABASE_URL": "mysql://secret@h/d", "ORCA_PUSH_TRUSTED_PROXY_HOPS": "-1",
      "ORCA_PUSH_METRICS_PORT": "x", "ORCA_PUSH_DATABASE_POOL_MAX": "0",
    ])
    let (code, complaints) = try await process.ended()
    #expect(code == 78)
    for name in [
      "PORT", "ORCA_PUSH_PUBLIC_URL", "ORCA_PUSH_MODE", "ORCA_PUSH_DATABASE_URL", "ORCA_PUSH_TRUSTED_PROXY_HOPS",
      "ORCA_PUSH_METRICS_PORT", "ORCA_PUSH_DATABASE_POOL_MAX",
    ] {
      #expect(complaints.filter { $0.contains("api: \(name) ") }.count == 1, "\(name)")
    }
    #expect(complaints.count == 7)
    #expect(!process.said.contains("secret"))
  }

  @Test(arguments: [["foo"], ["serve", "--port", "1"], [""]])
  func `Words that it does not know end it with 64 and how it is called`(words: [String]) async throws {
    let process = try ApiProcess(["PORT": "0", "ORCA_PUSH_PUBLIC_URL": Gateway.origin], words)
    let (code, complaints) = try await process.ended()
    #expect(code == 64)
    #expect(complaints.first == "api: \"\(words[0])\" is none of its words")
    #expect(complaints.dropFirst().first?.hasPrefix("api: usage: api") == true)
  }

  @Test func `It says which file it keeps everything in`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let line = try await gateway.process.line("serving")
      #expect(line["database"]?.string == "sqlite")
      #expect(line["file"]?.string == (gateway.place.folder ?? "") + "/push.sqlite3")
    }
    try await StoreKind.postgres.use { gateway in
      let line = try await gateway.process.line("serving")
      #expect(line["database"]?.string == "postgres")
      #expect(line["file"] == nil)
      #expect(
        line["server"]?.string
          == (try PostgresUrl(gateway.place.environment["ORCA_PUSH_DATABASE_URL"] ?? "")).description)
      #expect(line["server"]?.string?.hasPrefix("postgresql://127.0.0.1:") == true)
    }
  }

  @Test func `Told to stop while the database is out of reach, it ends well`() async throws {
    // Nobody listens there.
    let place = Place(environment: ["ORCA_PUSH_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"])
    let process = try place.start()
    _ = try await process.port()
    process.terminate()
    #expect(try await process.ended().code == 0)
  }

  @Test(arguments: [
    ("postgres://u:hunter2@h:99999/d", "port"), ("postgres://u:ab@hunter2@127.0.0.1:1/d", "@"),
    ("postgres://u:hunter2@127.0.0.1:1/d?sslmode=hunter2", "sslmode"),
    ("postgres://u:hunter2@127.0.0.1:1/d?connect_timeout=hunter2", "connect_timeout"),
  ])
  func `A database URL that cannot be read is a fault of the configuration`(url: String, part: String) async throws {
    let process = try ApiProcess(["ORCA_PUSH_PUBLIC_URL": Gateway.origin, "ORCA_PUSH_DATABASE_URL": url])
    let (code, complaints) = try await process.ended()
    #expect(code == 78)
    #expect(complaints.count == 1)
    #expect(complaints[0].contains("ORCA_PUSH_DATABASE_URL") && complaints[0].contains(part))
    #expect(!process.said.contains("hunter2"))
  }

  @Test func `A port that is taken is named`() async throws {
    try await StoreKind.sqlite.use { gateway in
      for name in ["PORT", "ORCA_PUSH_METRICS_PORT"] {
        let process = try gateway.place.start([name: String(gateway.port)])
        let (code, complaints) = try await process.ended()
        #expect(code == 69)
        #expect(complaints.count == 1)
        #expect(complaints[0].contains("\(name): cannot listen on port \(gateway.port)"))
      }
    }
  }

  @Test func `A missing folder is made, one that cannot be is named`() async throws {
    try await Folder.use { folder in
      let place = Place(sqlite: folder + "/some/where")
      let gateway = try await Gateway.start(on: place)
      #expect(FileManager.default.fileExists(atPath: folder + "/some/where/push.sqlite3"))
      gateway.process.terminate()
      #expect(try await gateway.process.ended().code == 0)
      try Data().write(to: URL(filePath: folder + "/file"))
      for path in ["/file", "/file/below", "/some/where/push.sqlite3"] {
        let (code, complaints) = try await Place(sqlite: folder + path).start().ended()
        #expect(code == 69, "\(path)")
        #expect(complaints.count == 1)
        #expect(complaints.first?.contains("ORCA_PUSH_DATA_DIR") == true)
      }
    }
  }

  @Test func `A file that is no database, or a newer one, is refused`() async throws {
    try await StoreKind.sqlite.withPlace { place in
      let gateway = try await Gateway.start(on: place)
      gateway.process.terminate()
      try await gateway.process.ended()
      try await place.script("pragma user_version = 999")
      let (code, complaints) = try await place.start().ended()
      #expect(code == 78)
      #expect(complaints.count == 1)
      #expect(complaints.first?.contains("schema 999") == true)
    }
    try await StoreKind.sqlite.withPlace { place in
      let path = (place.folder ?? "") + "/push.sqlite3"
      try Data(repeating: 65, count: 8_192).write(to: URL(filePath: path))
      let (code, complaints) = try await place.start().ended()
      #expect(code == 78)
      #expect(complaints.count == 1)
      #expect(complaints.first?.contains("(\(place.folder ?? "?")): push.sqlite3 is damaged") == true)
    }
  }

  @Test func `A database without the schema, or with a newer one, is refused with what to run`() async throws {
    try await StoreKind.postgres.withPlace(migrated: false) { place in
      let (code, complaints) = try await place.start().ended()
      #expect(code == 78)
      #expect(complaints.count == 1)
      #expect(complaints.first?.contains("run `janitor migrate`") == true)
    }
    try await StoreKind.postgres.withPlace { place in
      try await place.script("insert into push_schema (number) values (999)")
      let (code, complaints) = try await place.start().ended()
      #expect(code == 78)
      #expect(complaints.first?.contains("deploy a newer build") == true)
    }
  }

  @Test func `A schema that changes under a running api makes it not ready`() async throws {
    try await StoreKind.postgres.use { gateway in
      try await gateway.place.script("insert into push_schema (number) values (999)")
      let reply = try await gateway.ask(.get("/ready"))
      #expect(reply.status == 503)
      #expect(reply.json?["ok"]?.bool == false)
      #expect(reply.json?["failing"]?.string == "schema")
      try await gateway.place.script("delete from push_schema where number = 999")
      #expect(try await gateway.ask(.get("/ready")).status == 200)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `In validation mode all but health and readiness is shut, and nothing is written`(on kind: StoreKind)
    async throws
  {
    try await kind.use(["ORCA_PUSH_MODE": "validation"]) { gateway in
      let health = try await gateway.ask(.get("/health"))
      #expect(health.text == #"{"ok":true,"pushProtocol":1,"deliveryProtocol":2,"mode":"validation"}"#)
      let ready = try await gateway.ask(.get("/ready"))
      #expect(ready.status == 200)
      for ask in [
        Ask.post("/v1/host/challenge", Body.challenge()), .post("/v1/host/session", "{}"), .get("/v1/devices"),
        .post("/v1/send", "{}"), .get("/nowhere"), Ask(method: "PUT", path: "/v1/send"),
        .post("/v1/send", String(repeating: " ", count: 20_000)),
      ] {
        let reply = try await gateway.ask(ask)
        #expect(reply.verdict == "503 validation_only")
      }
      if let folder = gateway.place.folder {
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
      }
    }
  }

  @Test func `In validation mode a folder that cannot be written is not ready`() async throws {
    try await Folder.use { folder in
      let place = Place(sqlite: folder + "/nowhere")
      let gateway = try await Gateway.start(on: place, ["ORCA_PUSH_MODE": "validation"])
      let reply = try await gateway.ask(.get("/ready"))
      #expect(reply.status == 503)
      #expect(reply.json?["failing"]?.string == "database")
      gateway.process.terminate()
      try await gateway.process.ended()
    }
  }
}
