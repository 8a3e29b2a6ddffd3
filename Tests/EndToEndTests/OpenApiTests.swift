import Foundation
import Json
import Testing

/// docs/openapi.yaml against the running api: schemathesis makes requests of all that the description allows and of what it
/// forbids, and holds every answer to it. Its seed and bounds are in `openapi/schemathesis.toml`.
@Suite(.timeLimit(.minutes(5))) struct OpenApiTests {
  @Test("The api keeps to docs/openapi.yaml", arguments: Gateway.StoreKind.allCases)
  func conformance(kind: Gateway.StoreKind) async throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let description = tests.deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/openapi.yaml")
    let folder = tests.appending(path: "openapi").path
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        try await sendKnown(host)
        let schemathesis = try Program(
          "schemathesis",
          running: [
            "schemathesis", "--config-file", folder + "/schemathesis.toml", "run", description.path, "--url",
            gateway.address,
          ],
          environment: [
            "PUSH_SESSION": host.session, "PYTHONPATH": folder, "SCHEMATHESIS_HOOKS": "beyond_schema",
            "PYTHONDONTWRITEBYTECODE": "1",
          ], in: gateway.folder)
        let report = await schemathesis.rest()
        let code = await schemathesis.stop()
        #expect(code == 0, "\(report.suffix(60).joined(separator: "\n"))")
        #expect(report.contains { $0.contains("No issues found") })
      }
    }
  }

  /// Sends the event that `beyond_schema.py` knows of.
  private func sendKnown(_ host: PythonHost) async throws {
    let phone: JsonValue = .object([
      "v": .integer(1), "deviceId": .string("known"), "platform": .string("android"),
      "token": .string(String(repeating: "k", count: 40)),
    ])
    let id = try #require(try await host.post("/v1/devices", phone)["registrationId"])
    let notification: JsonValue = .object([
      "notificationSeq": .integer(1), "notificationEpoch": .string("sent & known"), "source": .string("plugin"),
      "agentState": .null, "title": .string("t"), "body": .string(""),
    ])
    _ = try await host.post(
      "/v1/send", .object(["v": .integer(1), "registrationIds": .array([id]), "notification": notification]))
  }
}
