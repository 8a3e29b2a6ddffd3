import Foundation
import Json
import Testing

/// What must never be written down, looked for in everything that the programs print and tell operators.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SecrecyTests {
  @Test("Neither log nor metrics hold a token, a text, a key or a bearer", arguments: Gateway.StoreKind.allCases)
  func secrets(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let phones = [Phone(.production, 1), Phone(.sandbox, 2), Phone(.android, 3), Phone(.android, 4)]
        let answers = [
          #"{"status":400,"reason":"BadDeviceToken"}"#, #"{"status":403,"reason":"InvalidProviderToken","times":2}"#,
          #"{"status":401,"body":{"error":{"code":401,"message":"\#(phones[2].token)","status":"UNAUTHENTICATED"}},"times":3}"#,
          #"{"action":"close-after"}"#,
        ]
        let rules = zip(phones, answers).map { #"{"token":"\#($0.token)","steps":[\#($1)]}"# }
        try await gateway.script("{\"rules\":[\(rules.joined(separator: ","))]}")
        let registrations = try await host.register(phones)
        let texts: JsonObject = [
          "title": .string("Heading-4711"), "body": .string("Wording-4712"), "worktreeId": .string("Tree-4713"),
          "notificationId": .string("About-4714"),
        ]
        #expect(try await host.alert(1, to: registrations, texts) == Array(repeating: "queued", count: 4))
        // Two lanes are parked; what is said in between is kept all the same.
        for _ in 0..<2 { _ = try await gateway.programs.logged("lane open again") }
        // Requests that are refused tell the api what must not be repeated either.
        for request in try hostile(host) { _ = try await host.answer(to: request) }

        let told =
          try await gateway.programs.operatorsSee("/metrics").text + gateway.programs.operatorsSee("/ready").text
        let printed = await gateway.programs.stopAll().joined(separator: "\n")
        let secrets =
          phones.map(\.token) + ["Heading-4711", "Wording-4712", "Tree-4713", "About-4714", "Odd-4715", "Odd-4716"]
          + [host.session, host.fingerprint] + (try keys(gateway))
        for secret in secrets {
          #expect(!told.contains(secret), "operators are told \(secret)")
          #expect(!printed.contains(secret), "the log holds \(secret)")
        }
        #expect(printed.components(separatedBy: "lane parked").count > 2)
      }
    }
  }

  private func hostile(_ host: PythonHost) throws -> [JsonObject] {
    let body: JsonObject = ["v": .integer(1), "Odd-4715": .string("Odd-4716"), "token": .string("Odd-4716")]
    return ["/v1/devices", "/v1/send", "/v1/host/challenge", "/v1/Odd-4715"].map { path in
      ["method": .string("POST"), "path": .string(path), "body": .object(body)]
    }
  }

  /// Lines of both providers' private keys.
  private func keys(_ gateway: Gateway) throws -> [String] {
    let folder = gateway.folder.appending(path: "sandbox")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    var keys: [String] = []
    for name in names where name.hasSuffix(".p8") || name == "service-account.json" {
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8).replacing("\\n", with: "\n")
      keys += text.split(separator: "\n").map(String.init).filter { $0.count >= 40 && !$0.contains("\"") }
    }
    try #require(keys.count > 10)
    return keys
  }
}
