import Foundation
import Http
import Json
import Support
import Testing

/// The plain port: log, waits, page.
@Suite(.serialized)
struct ControlTests {
  @Test func `The log tells of each request and of its answer, and of no secret`() async throws {
    let sandbox = try await SandboxProcess.start()
    let client = try await AppleClient(sandbox)
    var push = ApplePush(token: "AABB")
    push.set("apns-collapse-id", "c")
    _ = try await client.send(push)
    let record = try #require(try await sandbox.requests().first)
    #expect(record["number"] == .integer(1) && record["provider"] == .string("apns"))
    #expect(record["environment"] == .string("sandbox") && record["token"] == .string("aabb"))
    #expect(record["headers"]?["apns-collapse-id"] == .string("c"))
    #expect(record["body"]?["aps"]?["alert"]?["title"] == .string("Title"))
    #expect(record["credential"]?["kid"] == .string("SANDBOXKEY"))
    #expect(record["credential"]?["iat"]?.integer != nil)
    #expect(record["answer"]?["status"] == .integer(200) && record["answer"]?["delivered"] == .bool(true))
    #expect(record["headers"]?["authorization"] == nil)
    let google = try await GoogleClient(sandbox)
    _ = try await google.send(#"{"message":{"token":"t"}}"#)
    let text = String(decoding: JsonText.render(.array(try await sandbox.requests())), as: UTF8.self)
    for secret in [await client.credential, await google.authorization] {
      #expect(!text.contains(secret.dropFirst(7)))
    }
    await client.close()
    await google.close()
  }

  @Test func `Requests come by number, and a wait ends when they have come`() async throws {
    let sandbox = try await SandboxProcess.start()
    let client = try await AppleClient(sandbox)
    #expect(try await !sandbox.wait(for: 1, milliseconds: 20))
    async let waited = sandbox.wait(for: 3, "provider=apns&status=200")
    for _ in 0..<3 { _ = try await client.send(ApplePush(token: "aa")) }
    #expect(try await waited)
    #expect(try await sandbox.requests(since: 1).compactMap { $0["number"]?.integer } == [2, 3])
    #expect(try await sandbox.wait(for: 1, "status=410", milliseconds: 0) == false)
    await client.close()
  }

  @Test func `A summary counts answers, tokens, connections and credentials`() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(#"{"rules":[{"token":"dead","steps":[{"reason":"Unregistered"}]}]}"#)
    let client = try await AppleClient(sandbox)
    for token in ["aa", "aa", "bb", "dead"] { _ = try await client.send(ApplePush(token: token)) }
    let summary = try await sandbox.summary()
    #expect(summary["settled"] == .integer(4) && summary["delivered"] == .integer(3))
    #expect(summary["deliveredTokens"] == .integer(2) && summary["providerTokens"] == .integer(1))
    let answers = summary["answers"]?.array ?? []
    #expect(answers.map { $0["count"] } == [.integer(3), .integer(1)])
    #expect(answers.map { $0["reason"] } == [.string(""), .string("Unregistered")])
    #expect(summary["connections"]?.array?.map { $0["requests"] } == [.integer(4)])
    _ = try await sandbox.call("DELETE", "/requests")
    #expect(try await sandbox.summary()["arrived"] == .integer(0))
    #expect(try await sandbox.requests().isEmpty)
    await client.close()
  }

  @Test func `The page says what it is for, and loads nothing from elsewhere`() async throws {
    let sandbox = try await SharedSandbox.running
    let control = try #require(sandbox.description["control"]?.string)
    for (path, type) in [("/", "text/html"), ("/tray.css", "text/css"), ("/tray.js", "text/javascript")] {
      let reply = try await Http1Client.send("GET", try #require(Url(control + path)), resolver: .literal)
      #expect(reply.status == 200 && reply.headers["content-type"]?.hasPrefix(type) == true)
      #expect(reply.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
      let text = String(decoding: reply.body, as: UTF8.self)
      #expect(!text.contains("http://") && !text.contains("https://") && !text.contains("innerHTML"))
      if path == "/" { #expect(text.contains("For development only")) }
    }
  }

  @Test func `Keys are for their owner alone`() async throws {
    let sandbox = try await SharedSandbox.running
    for name in ["AuthKey_SANDBOXKEY.p8", "ca-key.pem", "service-account.json", "worker.env"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: sandbox.directory + "/" + name)
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }

  @Test func `A shell reads the worker's settings`() async throws {
    let sandbox = try await SharedSandbox.running
    let result = try await Command.run(
      "/bin/sh", ["-c", "set -a; . \"$1\"; printf %s \"$ORCA_PUSH_APNS_KEY\"", "sh", sandbox.directory + "/worker.env"])
    #expect(result.output == sandbox.setting("ORCA_PUSH_APNS_KEY"))
    #expect(result.output.hasPrefix(#"-----BEGIN PRIVATE KEY-----\n"#))
  }

  @Test func `A flag that is unknown ends the program with the usage`() async throws {
    let sandbox = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/sandbox"
    let result = try await Command.run(sandbox, ["--colour", "red"])
    #expect(result.code == 64)
  }
}
