import Foundation
import Json
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

  @Test("Words that a program does not know end it with 64", arguments: ["worker", "janitor"])
  func usage(program: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let wrong = try Program(program, ["probe"], environment: ["ORCA_PUSH_DATA_DIR": folder.path])
    #expect(try await wrong.logged("stopped")["code"]?.integer == 64)
    #expect(await wrong.stop() == 64)
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
