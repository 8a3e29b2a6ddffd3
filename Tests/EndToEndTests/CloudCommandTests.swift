import Foundation
import Json
import Postgres
import Support
import Testing

/// The commands that a rollout and the minute's schedule run, as programs.
@Suite("Commands for the cloud")
struct CloudCommandTests {
  @Test("worker probe-fcm shows that Google takes this account's pushes, and delivers none")
  func probe() async throws {
    try await Gateway.run(.sqlite) { gateway in
      let probe = try Program("worker", ["probe-fcm"], environment: gateway.workerSettings)
      let line = try await probe.logged("fcm can be sent through")
      #expect(line["answer"]?.string == "accepted")
      #expect(await probe.stop() == 0)
      let asked = try await gateway.log("fcm")
      #expect(asked.count == 1)

      try await gateway.script(
        #"{"rules":[{"token":"*","provider":"fcm","repeat":true,"steps":[{"status":403,"reason":"PERMISSION_DENIED"}]}]}"#
      )
      let refused = try Program("worker", ["probe-fcm"], environment: gateway.workerSettings)
      #expect(try await refused.logged("stopped")["code"]?.integer == 69)
      #expect(await refused.stop() == 69)
    }
  }

  /// Of programs that are set up by nothing at all, so they look at nothing else.
  @Test("--help prints how a program is called and ends it with 0", arguments: ["api", "worker", "janitor", "sandbox"])
  func help(program: String) async throws {
    let helped = try await Command.run(program, ["--help"], killedAfter: 60_000)
    #expect(helped.code == 0)
    #expect(helped.output.hasPrefix("usage: \(program)"))
    #expect(!helped.output.contains("{"))
    #expect(helped.errors.isEmpty)
  }

  @Test("janitor explain where there is no database says which file it missed, and makes none")
  func explainNowhere() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
    let explained = try await Command.run(
      "janitor", ["explain", "abcd", "e", "1"], environment: ["ORCA_PUSH_DATA_DIR": folder.path], killedAfter: 60_000)
    #expect(explained.code == 69)
    #expect(explained.errors.hasPrefix("janitor: \(folder.path)/push.sqlite3 does not exist"))
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test(
    "A program that is told to stop while it waits for the database ends well",
    arguments: [("worker", []), ("janitor", ["watch"])])
  func stopsWaiting(program: String, words: [String]) async throws {
    // Nobody listens there.
    let waiting = try Program(
      program, words, environment: ["ORCA_PUSH_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"])
    _ = try await waiting.logged("waiting for the database")
    #expect(await waiting.stop() == 0)
  }

  @Test("A worker says at its start which provider it has nothing to show to, and which file it works on")
  func missingCredentials() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let worker = try Program("worker", environment: ["ORCA_PUSH_DATA_DIR": folder.path])
    let apns = try await worker.logged("no APNs key")
    #expect(apns["severity"]?.string == "WARNING")
    for name in ["ORCA_PUSH_APNS_KEY_FILE", "ORCA_PUSH_APNS_KEY_ID", "ORCA_PUSH_APPLE_TEAM_ID"] {
      #expect(apns["set"]?.string?.contains(name) == true)
    }
    let fcm = try await worker.logged("FCM is shown this machine's identity")
    #expect(fcm["set"]?.string?.contains("GOOGLE_APPLICATION_CREDENTIALS") == true)
    let ready = try await worker.logged("ready")
    #expect(ready["file"]?.string == folder.path + "/push.sqlite3")
    #expect(ready["project"]?.string == "onorca-cloud")
    #expect(await worker.stop() == 0)
  }

  @Test("Words that a program does not know end it with 64", arguments: ["api", "worker", "janitor"])
  func usage(program: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let wrong = try Program(program, ["probe"], environment: ["ORCA_PUSH_DATA_DIR": folder.path])
    #expect(try await wrong.logged("stopped")["code"]?.integer == 64)
    #expect(await wrong.stop() == 64)
  }

  @Test("janitor migrate on a schema that is too new says so and ends with 78, as the other programs do")
  func newerSchema() async throws {
    try await ScratchDatabase.use { database in
      let environment = ["ORCA_PUSH_DATABASE_URL": database.text]
      #expect(try await Command.run("janitor", ["migrate"], environment: environment, killedAfter: 60_000).code == 0)
      let pool = await PostgresPool(database.url, maximum: 1, applicationName: "tests") { _ in }
      try await pool.script("insert into push_schema (number, serves) values (999, 999)")
      let migrated = try await Command.run("janitor", ["migrate"], environment: environment, killedAfter: 60_000)
      #expect(migrated.code == 78)
      #expect(migrated.errors.contains("the database has schema 999"))
      await pool.close()
    }
  }

  @Test("janitor scale without its pool's name says so and ends with 78")
  func scaleUnconfigured() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let scale = try Program("janitor", ["scale"], environment: ["ORCA_PUSH_DATA_DIR": folder.path])
    #expect(try await scale.logged("stopped")["code"]?.integer == 78)
    #expect(await scale.stop() == 78)
  }
}
