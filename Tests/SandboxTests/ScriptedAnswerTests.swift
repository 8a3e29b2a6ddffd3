import Http
import Json
import Support
import Testing

/// What a script makes of single pushes. Each test has its own token and connection.
struct ScriptedAnswerTests {
  private let token = ApplePush.freshToken()

  private func client(_ steps: String) async throws -> (AppleClient, SandboxProcess) {
    let sandbox = try await SharedSandbox.running
    try await sandbox.script(#"{"rules":[{"token":"\#(token)","steps":[\#(steps)]}]}"#)
    return (try await AppleClient(sandbox), sandbox)
  }

  private func records(_ sandbox: SandboxProcess) async throws -> [JsonValue] {
    try await sandbox.requests(token: token)
  }

  private func endings(_ sandbox: SandboxProcess) async throws -> [String] {
    try await records(sandbox).map { record in
      let status = record["answer"]?["status"]?.integer ?? -1
      return status > 0 ? "\(status)" : record["answer"]?["reason"]?.string ?? "open"
    }
  }

  private func isOnScreen(_ sandbox: SandboxProcess) async throws -> Bool {
    try await sandbox.tray()["phones"]?.array?.contains { $0["token"] == .string(token) } ?? false
  }

  @Test func `A reason has its status, and steps are followed by the usual`() async throws {
    let (client, _) = try await client(#"{"reason":"TooManyRequests"},{"reason":"InternalServerError","times":2}"#)
    var answers: [String] = []
    for _ in 0..<4 {
      let answer = try await client.send(ApplePush(token: token))
      answers.append("\(answer.status) \(answer.reason ?? "")")
    }
    #expect(answers == ["429 TooManyRequests", "500 InternalServerError", "500 InternalServerError", "200 "])
    await client.close()
  }

  @Test func `A 410 says since when, in milliseconds`() async throws {
    let (client, _) = try await client(
      #"{"reason":"Unregistered","timestamp":1700000000123},{"reason":"ExpiredToken"}"#)
    #expect(
      try await client.send(ApplePush(token: token)).body == #"{"reason":"Unregistered","timestamp":1700000000123}"#)
    let now = try await client.send(ApplePush(token: token))
    #expect(now.status == 410 && now.body.contains(#""timestamp":"#))
    await client.close()
  }

  @Test func `Status, body and fields are sent as they stand`() async throws {
    let (client, _) = try await client(
      #"{"status":403,"reason":"SomethingNew"},{"status":503,"body":"oops","headers":{"Retry-After":"3"}},{"status":500}"#
    )
    let new = try await client.send(ApplePush(token: token))
    #expect(new.status == 403 && new.body == #"{"reason":"SomethingNew"}"#)
    let odd = try await client.send(ApplePush(token: token))
    #expect(odd.status == 503 && odd.body == "oops" && odd.headers["retry-after"] == "3")
    let bare = try await client.send(ApplePush(token: token))
    #expect(bare.status == 500 && bare.body.isEmpty)
    await client.close()
  }

  @Test func `A faulty push uses up no step`() async throws {
    let (client, _) = try await client(#"{"reason":"TooManyRequests"}"#)
    var faulty = ApplePush(token: token)
    faulty.body = ""
    #expect(try await client.send(faulty).reason == "PayloadEmpty")
    #expect(try await client.send(ApplePush(token: token)).reason == "TooManyRequests")
    await client.close()
  }

  @Test func `A refused push can reach the phone all the same`() async throws {
    let (client, sandbox) = try await client(#"{"reason":"ServiceUnavailable","deliver":true}"#)
    #expect(try await client.send(ApplePush(token: token)).status == 503)
    #expect(try await isOnScreen(sandbox))
    #expect(try await records(sandbox).map { $0["answer"]?["delivered"] } == [.bool(true)])
    await client.close()
  }

  @Test func `Hanging never answers`() async throws {
    let (client, sandbox) = try await client(#"{"action":"hang"}"#)
    // The connection's opening is no part of the wait.
    _ = try await client.send(ApplePush(token: ApplePush.freshToken()))
    var push = ApplePush(token: token)
    push.deadline = 300
    await #expect(throws: Http2Failure.timedOut(sent: true)) { try await client.send(push) }
    #expect(try await endings(sandbox) == ["hang"])
    #expect(try await !isOnScreen(sandbox))
    await client.close()
  }

  @Test func `A delay comes before the answer`() async throws {
    let (client, sandbox) = try await client(#"{"delayMs":120}"#)
    #expect(try await client.send(ApplePush(token: token)).status == 200)
    let duration = try await records(sandbox).first?["durationMs"]?.integer ?? 0
    #expect((120...5_000).contains(duration))
    await client.close()
  }

  @Test func `A reset stream has an error of the sender's to deal with`() async throws {
    let (client, sandbox) = try await client(#"{"action":"reset"}"#)
    await #expect(throws: Http2Failure.reset(2)) { try await client.send(ApplePush(token: token)) }
    #expect(try await client.send(ApplePush(token: token)).status == 200)
    #expect(try await endings(sandbox) == ["reset", "200"])
    await client.close()
  }

  @Test func `A refused stream may be sent again at once`() async throws {
    let (client, sandbox) = try await client(#"{"action":"refuse","times":2}"#)
    #expect(try await client.send(ApplePush(token: token)).status == 200)
    #expect(try await endings(sandbox) == ["refuse", "refuse", "200"])
    await client.close()
  }

  @Test func `A GOAWAY before the push sends it to the next connection`() async throws {
    let (client, sandbox) = try await client(#"{"action":"goaway-before","reason":"Shutdown"}"#)
    #expect(try await client.send(ApplePush(token: token)).status == 200)
    let records = try await records(sandbox)
    #expect(try await endings(sandbox) == ["goaway-before", "200"])
    #expect(Set(records.compactMap { $0["connection"]?.integer }).count == 2)
    #expect(await client.goAwayReasons == [#"{"reason":"Shutdown"}"#])
    await client.close()
  }

  @Test func `A GOAWAY after the push comes with its answer`() async throws {
    let (client, sandbox) = try await client(#"{"action":"goaway-after"}"#)
    #expect(try await client.send(ApplePush(token: token)).status == 200)
    #expect(try await client.send(ApplePush(token: token)).status == 200)
    let records = try await records(sandbox)
    #expect(try await endings(sandbox) == ["200", "200"])
    #expect(Set(records.compactMap { $0["connection"]?.integer }).count == 2)
    await client.close()
  }

  @Test(arguments: [("close-before", false), ("close-after", true)])
  func `A cut connection leaves the sender in doubt`(action: String, reaches: Bool) async throws {
    let (client, sandbox) = try await client(#"{"action":"\#(action)"}"#)
    await #expect(throws: Http2Failure.connectionLost) { try await client.send(ApplePush(token: token)) }
    #expect(try await endings(sandbox) == [action])
    #expect(try await isOnScreen(sandbox) == reaches)
    #expect(try await client.send(ApplePush(token: token)).status == 200)
    await client.close()
  }

  @Test func `One stream until a push is accepted, then many`() async throws {
    let (client, sandbox) = try await client(#"{"delayMs":150},{"delayMs":100,"times":5}"#)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<6 { group.addTask { [token] in try await client.send(ApplePush(token: token)).status } }
      for try await status in group { #expect(status == 200) }
    }
    let times = try await records(sandbox).compactMap { $0["time"]?.integer }
    #expect(times.count == 6 && times[1] - times[0] >= 150)
    let id = try await records(sandbox).first?["connection"]
    let connection = try await sandbox.summary()["connections"]?.array?.first {
      $0["connection"] == id && $0["environment"] == .string("sandbox")
    }
    #expect(connection?["maxInFlight"] == .integer(5))
    #expect(connection?["streamLimit"] == .integer(1_000))
    await client.close()
  }

  @Test func `A step can lower the stream limit`() async throws {
    let (client, sandbox) = try await client(
      #"{"status":200},{"action":"settings","maxConcurrentStreams":2,"status":400,"reason":"BadPriority"}"#)
    #expect(try await client.send(ApplePush(token: token)).status == 200)
    #expect(try await client.send(ApplePush(token: token)).reason == "BadPriority")
    let id = try await records(sandbox).first?["connection"]
    let connection = try await sandbox.summary()["connections"]?.array?.first {
      $0["connection"] == id && $0["environment"] == .string("sandbox")
    }
    #expect(connection?["streamLimit"] == .integer(2))
    await client.close()
  }
}
