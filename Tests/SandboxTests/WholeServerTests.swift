import Http
import Json
import Keys
import Support
import Testing

/// What a script does to a whole server: each test has a sandbox of its own.
@Suite(.serialized)
struct WholeServerTests {
  private func connections(_ sandbox: SandboxProcess, _ token: String) async throws -> [Int64] {
    try await sandbox.requests(token: token).compactMap { $0["connection"]?.integer }
  }

  private func statuses(_ client: AppleClient, _ count: Int) async throws -> [Int] {
    var statuses: [Int] = []
    for _ in 0..<count { statuses.append(try await client.send(ApplePush(token: "aa")).status) }
    return statuses
  }

  @Test func `GOAWAY comes after every so many requests of a connection, and none is lost`() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(#"{"apns":{"goawayEvery":10,"goawayReason":"Shutdown"}}"#)
    let client = try await AppleClient(sandbox)
    #expect(try await statuses(client, 35) == Array(repeating: 200, count: 35))
    let counts = Dictionary(grouping: try await connections(sandbox, "aa")) { $0 }.values.map(\.count).sorted()
    #expect(counts == [5, 10, 10, 10])
    await client.close()
  }

  @Test func `A connection can be left open after its GOAWAY, and nothing is lost`() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(
      #"{"apns":{"goawayEvery":10,"goawayKeepsOpen":true},"rules":[{"token":"bb","steps":[{"action":"goaway-before"}]}]}"#
    )
    let client = try await AppleClient(sandbox)
    #expect(try await statuses(client, 15) == Array(repeating: 200, count: 15))
    #expect(try await client.send(ApplePush(token: "bb")).status == 200)
    let counts = Dictionary(grouping: try await connections(sandbox, "aa")) { $0 }.values.map(\.count).sorted()
    #expect(counts == [5, 10])
    await client.close()
  }

  @Test func `A connection begins with as many streams as the script says`() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(
      #"{"apns":{"firstStreamLimit":2},"fcm":{"firstStreamLimit":1,"latencyMs":30},"accessTokenLifetime":60}"#)
    let apple = try await AppleClient(sandbox)
    #expect(try await statuses(apple, 1) == [200])
    let google = try await GoogleClient(sandbox)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 { group.addTask { try await google.send(#"{"message":{"token":"t"}}"#).status } }
      for try await status in group { #expect(status == 200) }
    }
    let times = try await sandbox.requests(token: "t").compactMap { $0["time"]?.integer }.sorted()
    // The second came only after the first was answered.
    #expect(times.count == 4 && times[1] - times[0] >= 30)
    try await sandbox.forgetScripts()
    let usual = try await GoogleClient(sandbox)
    #expect(try await usual.send(#"{"message":{"token":"u"}}"#).status == 200)
    let limits = try await sandbox.summary()["connections"]?.array?.compactMap { $0["streamLimit"]?.integer }
    #expect(limits == [1_000, 100, 100])
    await apple.close()
    await google.close()
    await usual.close()
  }

  @Test func `Answers carry the time by the scripted clock`() async throws {
    let sandbox = try await SandboxProcess.start()
    let client = try await AppleClient(sandbox)
    let date = try #require(try await client.send(ApplePush(token: "aa")).headers["date"])
    #expect(date.hasSuffix(" GMT"))
    try await sandbox.script(#"{"apns":{"clockOffsetSeconds":-63072000}}"#)
    let earlier = try #require(try await client.send(ApplePush(token: "aa")).headers["date"])
    let years = [date, earlier].compactMap { Int($0.split(separator: " ")[3]) }
    #expect(years.count == 2 && (2...3).contains(years[0] - years[1]))
    await client.close()
  }

  @Test func `A wedged connection keeps refusing, a new one does not`() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(
      #"{"apns":{"wedge":"fail"},"rules":[{"token":"bb","steps":[{"reason":"ExpiredProviderToken"}]}]}"#)
    let client = try await AppleClient(sandbox)
    #expect(try await statuses(client, 1) == [200])
    #expect(try await client.send(ApplePush(token: "bb")).reason == "ExpiredProviderToken")
    #expect(try await statuses(client, 3) == [403, 403, 403])
    await client.close()
    let next = try await AppleClient(sandbox)
    #expect(try await statuses(next, 2) == [200, 200])
    await next.close()
  }

  @Test func `A connection that hangs after a refusal answers nothing more`() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(
      #"{"apns":{"wedge":"hang"},"rules":[{"token":"bb","steps":[{"reason":"TooManyProviderTokenUpdates"}]}]}"#)
    let client = try await AppleClient(sandbox)
    #expect(try await client.send(ApplePush(token: "bb")).status == 429)
    var push = ApplePush(token: "aa")
    push.deadline = 300
    await #expect(throws: Http2Failure.timedOut(sent: true)) { try await client.send(push) }
    await client.close()
  }

  @Test func `Only the required key counts from its time on`() async throws {
    let sandbox = try await SandboxProcess.start()
    let key = try Es256Key.generate()
    let pem = String(decoding: JsonText.string(key.publicKeyPem()), as: UTF8.self)
    try await sandbox.script(#"{"keys":[{"keyId":"SECONDKEY0","publicKey":\#(pem)}]}"#)
    let next = "bearer " + (try AppleClient.token(key, keyId: "SECONDKEY0"))
    let (old, new) = (try await AppleClient(sandbox), try await AppleClient(sandbox))
    #expect(try await old.send(ApplePush(token: "aa")).status == 200)
    #expect(try await new.send(ApplePush(token: "aa", authorization: next)).status == 200)
    try await sandbox.script(#"{"requireKey":{"keyId":"SECONDKEY0","afterMs":60000}}"#)
    #expect(try await old.send(ApplePush(token: "aa")).status == 200)
    try await sandbox.script(#"{"requireKey":{"keyId":"SECONDKEY0"}}"#)
    #expect(try await old.send(ApplePush(token: "aa")).reason == "InvalidProviderToken")
    #expect(try await new.send(ApplePush(token: "aa", authorization: next)).status == 200)
    await old.close()
    await new.close()
  }

  @Test func `A key of one environment is refused by the other`() async throws {
    let sandbox = try await SandboxProcess.start()
    let key = try Es256Key.generate()
    let pem = String(decoding: JsonText.string(key.publicKeyPem()), as: UTF8.self)
    try await sandbox.script(#"{"keys":[{"keyId":"PRODUCTION","publicKey":\#(pem),"environment":"production"}]}"#)
    let push = ApplePush(token: "aa", authorization: "bearer " + (try AppleClient.token(key, keyId: "PRODUCTION")))
    let wrong = try await AppleClient(sandbox)
    #expect(try await wrong.send(push).reason == "BadEnvironmentKeyInToken")
    let right = try await AppleClient(sandbox, "ORCA_PUSH_APNS_PRODUCTION_URL")
    #expect(try await right.send(push).status == 200)
    await wrong.close()
    await right.close()
  }

  @Test func `A clock set forward makes tokens old, and a short interval lets them change`() async throws {
    let sandbox = try await SandboxProcess.start()
    let client = try await AppleClient(sandbox)
    try await sandbox.script(#"{"apns":{"clockOffsetSeconds":3700,"tokenUpdateIntervalMs":0}}"#)
    #expect(try await client.send(ApplePush(token: "aa")).reason == "ExpiredProviderToken")
    for age in [Int64(-200), -300, -400] {
      let bearer = "bearer " + (try AppleClient.token(client.key, age: age))
      #expect(try await client.send(ApplePush(token: "aa", authorization: bearer)).status == 200)
    }
    try await sandbox.forgetScripts()
    #expect(try await client.send(ApplePush(token: "aa")).status == 429)
    await client.close()
  }

  @Test func `A changed stream limit is told to connections that stand`() async throws {
    let sandbox = try await SandboxProcess.start()
    let client = try await AppleClient(sandbox)
    #expect(try await statuses(client, 1) == [200])
    try await sandbox.script(#"{"apns":{"maxConcurrentStreams":3}}"#)
    #expect(try await statuses(client, 1) == [200])
    #expect(try await sandbox.summary()["connections"]?.array?.first?["streamLimit"] == .integer(3))
    await client.close()
  }

  @Test func `A rate holds a connection back`() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(#"{"fcm":{"connectionRate":50}}"#)
    let client = try await GoogleClient(sandbox)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<10 { group.addTask { try await client.send(#"{"message":{"token":"t"}}"#).status } }
      for try await status in group { #expect(status == 200) }
    }
    let longest = try await sandbox.requests().compactMap { $0["durationMs"]?.integer }.max() ?? 0
    #expect(longest >= 160)
    await client.close()
  }

  @Test func `Access tokens run out, and can be revoked`() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(#"{"accessTokenLifetime":0}"#)
    let expired = try await GoogleClient(sandbox)
    #expect(try await expired.send(#"{"message":{"token":"t"}}"#).status == 401)
    try await sandbox.script(#"{"accessTokenLifetime":20}"#)
    #expect(try await GoogleClient.metadata(sandbox)["expires_in"] == .integer(20))
    let client = try await GoogleClient(sandbox)
    #expect(try await client.send(#"{"message":{"token":"t"}}"#).status == 200)
    try await sandbox.script(#"{"revokeAccessTokens":true}"#)
    #expect(try await client.send(#"{"message":{"token":"t"}}"#).word == "UNAUTHENTICATED")
    await expired.close()
    await client.close()
  }

  @Test func `The token endpoint and the metadata server follow scripts of their own`() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(
      #"{"rules":[{"provider":"metadata","steps":[{"status":503,"body":{"error":"x"}},{"action":"close-before"}]}]}"#)
    #expect(try await GoogleClient.metadata(sandbox)["error"] == .string("x"))
    await #expect(throws: (any Error).self) { try await GoogleClient.metadata(sandbox) }
    #expect(try await GoogleClient.metadata(sandbox)["token_type"] == .string("Bearer"))
  }

  @Test func `Authority and keys outlive the program, ports do not matter`() async throws {
    let first = try await SandboxProcess.start()
    let key = first.setting("ORCA_PUSH_APNS_KEY")
    let trust = first.trust
    first.stop()
    let second = try await SandboxProcess.start(directory: first.directory)
    #expect(second.setting("ORCA_PUSH_APNS_KEY") == key)
    let url = try #require(Url(second.setting("ORCA_PUSH_FCM_URL") + "/"))
    #expect(try await Http1Client.send("GET", url, tls: trust, resolver: .literal).status == 404)
  }
}
