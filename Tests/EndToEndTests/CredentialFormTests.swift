import Foundation
import Json
import Testing

/// Keys as people paste them, given to the real worker.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CredentialFormTests {
  @Test("The key is taken in each form that people paste, and pushes go out with it")
  func forms() async throws {
    try await Gateway.run(.sqlite) { gateway in
      await gateway.programs.stopWorker()
      try await PythonHost.run(on: gateway) { host in
        let pem = try key(gateway)
        let oneLine = pem.replacing("\n", with: "")
        let forms = [
          pem, pem.replacing("\n", with: "\\n"), pem.replacing("\n", with: "\\\\n"), pem.replacing("\n", with: "\r\n"),
          "\u{feff}" + pem, oneLine, pem.replacing("\n", with: " "), "\"\(pem)\"", Data(pem.utf8).base64EncodedString(),
        ]
        let registrations = try await host.register([Phone(.production, 1)])
        for (seq, form) in forms.enumerated() {
          try await gateway.programs.startWorker(["ORCA_PUSH_APNS_KEY": form])
          #expect(try await host.alert(Int64(seq), to: registrations) == ["queued"])
          #expect(try await gateway.requests("apns", count: seq + 1).count == seq + 1, "form \(seq)")
          await gateway.programs.stopWorker()
        }
      }
    }
  }

  @Test("What is no key ends the worker at once, and every fault is named")
  func mistakes() async throws {
    try await Gateway.run(.sqlite) { gateway in
      let pem = try key(gateway)
      let account = try String(
        contentsOf: gateway.folder.appending(path: "sandbox/service-account.json"), encoding: .utf8)
      let broken = pem.replacing("MIG", with: "MIH")
      let mistakes: [(settings: [String: String], says: String)] = [
        (["ORCA_PUSH_APNS_KEY": broken], "ORCA_PUSH_APNS_KEY"),
        (["ORCA_PUSH_APNS_KEY": "/keys/AuthKey.p8"], "path"),
        (["ORCA_PUSH_APNS_KEY": account], "Google service account"),
        (["GOOGLE_APPLICATION_CREDENTIALS": "/nowhere/key.json"], "GOOGLE_APPLICATION_CREDENTIALS"),
        (["ORCA_PUSH_PROVIDER_CA_FILE": "/nowhere/ca.pem"], "ORCA_PUSH_PROVIDER_CA_FILE"),
      ]
      for (settings, says) in mistakes {
        let (code, text) = try await gateway.programs.failingWorker(settings)
        #expect(code == 78, "\(says): \(text)")
        #expect(text.contains(says), "\(text)")
      }
    }
  }

  private func key(_ gateway: Gateway) throws -> String {
    let folder = gateway.folder.appending(path: "sandbox")
    let name = try #require(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasSuffix(".p8") })
    return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }
}
