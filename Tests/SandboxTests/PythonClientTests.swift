import Foundation
import Json
import Support
import Testing

/// Clients that other people wrote find here what they find at Apple and Google. They need the packages of
/// `Tests/requirements.txt`; `PUSH_TEST_PYTHON` names the interpreter that has them, `.venv/bin/python` if it does not.
@Suite(.enabled(if: Python.isThere, "no interpreter: PUSH_TEST_PYTHON, or .venv at the package's root"))
struct PythonClientTests {
  @Test(arguments: [false, true])
  func `aioapns reads acceptance, refusal and the time of a dead token`(isProduction: Bool) async throws {
    let sandbox = try await SharedSandbox.running
    let (fine, dead, busy) = (ApplePush.freshToken(), ApplePush.freshToken(), ApplePush.freshToken())
    try await sandbox.script(
      """
      {"rules":[{"token":"\(dead)","steps":[{"reason":"Unregistered","timestamp":1700000000123}]},
        {"token":"\(busy)","steps":[{"reason":"TooManyRequests"}]}]}
      """)
    let alert = #"{"aps":{"alert":{"title":"T","body":"B"},"sound":"default"}}"#
    let pushes = [
      #"{"token":"\#(fine)","payload":\#(alert),"priority":10,"collapseId":"c","ttl":300}"#,
      #"{"token":"\#(fine)","payload":{"aps":{"content-available":1}},"priority":5,"type":"background"}"#,
      #"{"token":"zz","payload":\#(alert)}"#,
      #"{"token":"\#(dead)","payload":\#(alert)}"#,
      #"{"token":"\#(busy)","payload":\#(alert)}"#,
      #"{"token":"\#(fine)","payload":\#(alert),"priority":7}"#,
    ]
    let results = try await Python.run(
      "aioapns_client.py", [sandbox.directory + "/sandbox.json"] + (isProduction ? ["--production"] : []), sandbox,
      pushes)
    #expect(
      results == [
        #"{"status": 200, "reason": null, "timestamp": null}"#,
        #"{"status": 200, "reason": null, "timestamp": null}"#,
        #"{"status": 400, "reason": "BadDeviceToken", "timestamp": null}"#,
        #"{"status": 410, "reason": "Unregistered", "timestamp": 1700000000123}"#,
        #"{"status": 429, "reason": "TooManyRequests", "timestamp": null}"#,
        #"{"status": 400, "reason": "BadPriority", "timestamp": null}"#,
      ])
    let record = try await sandbox.requests(token: fine).first
    #expect(record?["credential"]?["kid"] == .string("SANDBOXKEY"))
  }

  @Test func `aioapns sends a burst once the stream limit lets it`() async throws {
    let sandbox = try await SharedSandbox.running
    let pushes = (0..<150).map { _ in
      #"{"token":"\#(ApplePush.freshToken())","payload":{"aps":{"alert":"x"}}}"#
    }
    let results = try await Python.run("aioapns_client.py", [sandbox.directory + "/sandbox.json"], sandbox, pushes)
    #expect(results == Array(repeating: #"{"status": 200, "reason": null, "timestamp": null}"#, count: 150))
  }

  @Test func `firebase-admin maps every answer to its exception`() async throws {
    let sandbox = try await SharedSandbox.running
    let reasons = ["UNREGISTERED", "SENDER_ID_MISMATCH", "QUOTA_EXCEEDED", "THIRD_PARTY_AUTH_ERROR"]
    let tokens = reasons.map { _ in ApplePush.freshToken() }
    let rules = zip(tokens, reasons).map { token, reason in
      // Google's client tries some answers again by itself.
      #"{"token":"\#(token)","steps":[{"reason":"\#(reason)","times":"always"}]}"#
    }
    try await sandbox.script(#"{"rules":[\#(rules.joined(separator: ","))]}"#)
    let pushes = [
      #"{"token":"\#(ApplePush.freshToken())","title":"T","body":"B","data":{"k":"v"},"tag":"t"}"#,
      #"{"token":"\#(ApplePush.freshToken())","title":"T","dryRun":true}"#,
      #"{"token":"bad token","title":"T"}"#,
      #"{"token":"\#(ApplePush.freshToken())","title":"T","data":{"google.x":"y"}}"#,
    ]
    let results = try await Python.run(
      "firebase_client.py", [sandbox.directory + "/sandbox.json"], sandbox,
      pushes + tokens.map { #"{"token":"\#($0)","title":"T"}"# })
    #expect(results.count == 8)
    #expect(results.first?.hasPrefix(#"{"name": "projects/orca-sandbox/messages/0:"#) == true)
    #expect(
      Array(results.dropFirst()) == [
        #"{"name": "projects/orca-sandbox/messages/fake_message_id"}"#,
        #"{"error": "InvalidArgumentError", "code": "INVALID_ARGUMENT", "cause": 400}"#,
        #"{"error": "InvalidArgumentError", "code": "INVALID_ARGUMENT", "cause": 400}"#,
        #"{"error": "UnregisteredError", "code": "NOT_FOUND", "cause": 404}"#,
        #"{"error": "SenderIdMismatchError", "code": "PERMISSION_DENIED", "cause": 403}"#,
        #"{"error": "QuotaExceededError", "code": "RESOURCE_EXHAUSTED", "cause": 429}"#,
        #"{"error": "ThirdPartyAuthError", "code": "UNAUTHENTICATED", "cause": 401}"#,
      ])
  }

  @Test func `firebase-admin sends many over HTTP/2`() async throws {
    let sandbox = try await SharedSandbox.running
    let pushes = (0..<100).map { _ in #"{"together":true,"token":"\#(ApplePush.freshToken())","title":"T"}"# }
    let results = try await Python.run("firebase_client.py", [sandbox.directory + "/sandbox.json"], sandbox, pushes)
    #expect(results.count == 100)
    #expect(results.allSatisfy { $0.hasPrefix(#"{"name": "projects/orca-sandbox/messages/0:"#) })
  }
}

/// Runs the clients in `Tests/clients`.
enum Python {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  private static let interpreter =
    ProcessInfo.processInfo.environment["PUSH_TEST_PYTHON"]
    ?? tests.deletingLastPathComponent().appendingPathComponent(".venv/bin/python").path

  static let isThere = FileManager.default.isExecutableFile(atPath: interpreter)

  /// The lines that the client wrote.
  static func run(
    _ client: String, _ arguments: [String], _ sandbox: SandboxProcess, _ input: [String]
  ) async throws -> [String] {
    let ca = sandbox.directory + "/ca.pem"
    let result = try await Command.run(
      interpreter, [tests.appendingPathComponent("clients/" + client).path] + arguments,
      environment: ["REQUESTS_CA_BUNDLE": ca, "SSL_CERT_FILE": ca], input: input.joined(separator: "\n"))
    #expect(result.code == 0, "\(result.complaints)")
    return result.output.split(separator: "\n").map(String.init)
  }
}
