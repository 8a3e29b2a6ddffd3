import Foundation
import Json
import Loop
import Testing

/// What became of deliveries, through the real programs: asked for by the host that sent them, and by an operator.
@Suite(.serialized, .timeLimit(.minutes(2))) struct RecordTests {
  /// What the provider makes of each phone's pushes, by the phone's name.
  private static let phones: [(name: String, platform: String, steps: String)] = [
    ("sent", "ios", "[]"),
    ("dead", "ios", #"[{"status": 400, "reason": "BadDeviceToken"}]"#),
    ("failed", "ios", #"[{"status": 413, "reason": "PayloadTooLarge"}]"#),
    ("unknown", "ios", #"[{"action": "close-after"}]"#),
    ("expired", "ios", #"[{"status": 503, "reason": "ServiceUnavailable", "headers": {"retry-after": "280"}}]"#),
    ("android", "android", "[]"),
    ("waiting", "android", #"[{"status": 503, "reason": "UNAVAILABLE"}]"#),
  ]

  private static func token(_ name: String, _ platform: String) -> String {
    let hex = name.utf8.map { String($0, radix: 16) }.joined()
    return platform == "ios"
      ? String(repeating: hex, count: 4) : "token-of-\(name)-" + String(repeating: "x", count: 40)
  }

  @Test(
    "Each delivery's end and its reason can be asked for by its host and by an operator",
    arguments: Gateway.StoreKind.allCases)
  func outcomes(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      let rules = Self.phones.filter { $0.steps != "[]" }.map { phone in
        let provider = phone.platform == "ios" ? "apns" : "fcm"
        return
          #"{"token": "\#(Self.token(phone.name, phone.platform))", "provider": "\#(provider)", "steps": \#(phone.steps)}"#
      }
      try await gateway.script(#"{"rules": [\#(rules.joined(separator: ","))]}"#)
      try await PythonHost.run(on: gateway) { host in
        let ids = try await register(host)
        // The provider's wait goes beyond this deadline and not beyond the usual one.
        let soon = Int64(Date().timeIntervalSince1970 * 1000) + 270_000
        for (name, id) in ids { try await send(host, id, seq: 1, expiresAt: name == "expired" ? soon : nil, name) }
        // A dismissal of what is not there yet fences it.
        let first = try #require(ids["sent"])
        try await send(host, first, seq: 9, kind: "dismiss", "cancelled")
        try await send(host, first, seq: 8, "cancelled")

        try await expectRecords(host, ids)
        try await expectExplained(gateway, host, ids)
      }
    }
  }

  private func register(_ host: PythonHost) async throws -> [String: JsonValue] {
    var ids: [String: JsonValue] = [:]
    for phone in Self.phones {
      var members: JsonObject = [
        "v": .integer(1), "deviceId": .string(phone.name), "platform": .string(phone.platform),
        "token": .string(Self.token(phone.name, phone.platform)),
      ]
      if phone.platform == "ios" {
        // Whose connection is cut has it for itself.
        let environment = phone.name == "unknown" ? "sandbox" : "production"
        members = JsonObject(members.members + [("apnsEnvironment", .string(environment))])
      }
      let answer = try await host.post("/v1/devices", .object(members))
      let id = try #require(answer["registrationId"])
      ids[phone.name] = id
    }
    return ids
  }

  /// Each phone has an epoch of its own.
  private func send(
    _ host: PythonHost, _ id: JsonValue, seq: Int64, kind: String = "alert", expiresAt: Int64? = nil, _ epoch: String
  ) async throws {
    var members: [(key: String, value: JsonValue)] = [
      ("kind", .string(kind)), ("notificationId", .string("run")), ("notificationSeq", .integer(seq)),
      ("notificationEpoch", .string("\(epoch) & more")), ("source", .string("plugin")), ("agentState", .null),
      ("title", .string("a private title")), ("body", .string("b")),
    ]
    if let expiresAt { members.append(("expiresAt", .integer(expiresAt))) }
    let answer = try await host.post(
      "/v1/send",
      .object(
        ["v": .integer(1), "registrationIds": .array([id]), "notification": .object(JsonObject(members))]))
    #expect(answer["results"]?.array?.first?["status"]?.string == "queued")
  }

  /// The one delivery of a phone's epoch, once it is in `state`: a provider's answer is recorded by a commit of its own.
  private func record(_ host: PythonHost, _ epoch: String, seq: Int64 = 1, _ state: String) async throws -> JsonValue {
    var last: JsonValue = .null
    for _ in 0..<200 {
      let path = "/v1/deliveries?notificationEpoch=\(epoch)+%26+more&notificationSeq=\(seq)&kind=alert"
      let deliveries = try #require(try await host.get(path)["deliveries"]?.array)
      try #require(deliveries.count == 1)
      last = deliveries[0]
      if last["state"]?.string == state { return last }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw Program.Ended(description: "\(epoch): \(String(decoding: JsonText.render(last), as: UTF8.self))")
  }

  private func expectRecords(_ host: PythonHost, _ ids: [String: JsonValue]) async throws {
    let sent = try await record(host, "sent", "sent")
    #expect(sent["providerId"]?.string?.count == 36)
    #expect(sent["attempts"]?.integer == 1)
    #expect(sent["registrationId"] == ids["sent"])
    #expect(sent["reason"] == nil)
    let queued = try #require(sent["queuedAt"]?.integer)
    let finished = try #require(sent["finishedAt"]?.integer)
    #expect(queued <= finished && sent["lastAttemptAt"]?.integer == finished)
    #expect(sent["deadline"]?.integer == queued + 300_000)

    let android = try await record(host, "android", "sent")
    #expect(android["providerId"]?.string?.hasPrefix("projects/") == true)
    #expect(android["apnsEnvironment"] == nil)

    let dead = try await record(host, "dead", "dead")
    #expect(dead["reason"]?.string == "BadDeviceToken")
    #expect(dead["apnsEnvironment"]?.string == "production")
    #expect(dead["detail"]?.string?.contains("Apple's production environment") == true)

    let failed = try await record(host, "failed", "failed")
    #expect(failed["reason"]?.string == "PayloadTooLarge")

    let expired = try await record(host, "expired", "expired")
    #expect(expired["reason"]?.string == "deadline")
    #expect(expired["retryReason"]?.string == "ServiceUnavailable")
    #expect(expired["attempts"]?.integer == 1)

    let waiting = try await record(host, "waiting", "waiting")
    #expect(waiting["reason"]?.string == "UNAVAILABLE")
    #expect(waiting["waitsFor"]?.string == "retry")
    #expect(waiting["unknownOutcomes"]?.integer == 1)
    let last = try #require(waiting["lastAttemptAt"]?.integer)
    #expect(try #require(waiting["nextAttemptAt"]?.integer) >= last + 10_000)

    let cancelled = try await record(host, "cancelled", seq: 8, "cancelled")
    #expect(cancelled["reason"]?.string == "dismissed")
    #expect(cancelled["attempts"]?.integer == 0)

    let unknown = try await record(host, "unknown", "sent")
    #expect(unknown["unknownOutcomes"]?.integer == 1)
    #expect(unknown["retryReason"]?.string == "connection_lost")
    #expect(unknown["attempts"]?.integer == 2)
  }

  private func explain(_ gateway: Gateway, _ arguments: [String]) async throws -> (lines: [String], code: Int32) {
    let janitor = try Program("janitor", ["explain"] + arguments, environment: gateway.store)
    let lines = await janitor.rest()
    return (lines, await janitor.stop())
  }

  private func expectExplained(_ gateway: Gateway, _ host: PythonHost, _ ids: [String: JsonValue]) async throws {
    let prefix = String(host.fingerprint.prefix(5))
    let table = try await explain(gateway, [prefix, "dead & more", "1"])
    #expect(table.code == 0)
    try #require(table.lines.count == 4, "\(table.lines)")
    #expect(table.lines[0] == "host \(host.fingerprint.prefix(4))…, seq 1")
    #expect(table.lines[2].hasPrefix("KIND   REGISTRATION"))
    let row = table.lines[3]
    for word in ["alert", ids["dead"]?.string ?? "?", "ios production", "dead", "BadDeviceToken"] {
      #expect(row.contains(word))
    }
    let json = try await explain(gateway, [host.fingerprint, "unknown & more", "1", "--json"])
    #expect(json.code == 0)
    let told = try JsonReader.read(Array(try #require(json.lines.first).utf8))
    #expect(told["host"]?.string == "\(host.fingerprint.prefix(4))…")
    let asked = try await host.get("/v1/deliveries?notificationEpoch=unknown%20%26%20more&notificationSeq=1")
    #expect(told["deliveries"] == asked["deliveries"])

    for text in table.lines + json.lines {
      #expect(!text.contains("private") && !text.contains(host.fingerprint))
      for phone in Self.phones { #expect(!text.contains(Self.token(phone.name, phone.platform))) }
    }
    #expect(try await explain(gateway, [prefix, "dead & more", "2"]).code == 66)
    #expect(try await explain(gateway, [prefix == "AAAAA" ? "BBBBB" : "AAAAA", "dead & more", "1"]).code == 66)
  }

  @Test(
    "What names no event is refused before the database is looked at",
    arguments: [[], ["abcd", "e"], ["abc", "e", "1"], ["ab%d", "e", "1"], ["abcd", "e", "-1"], ["abcd", "", "1"]])
  func refusals(arguments: [String]) async throws {
    let janitor = try Program("janitor", ["explain"] + arguments, environment: ["ORCA_PUSH_DATA_DIR": "/nowhere"])
    #expect(await janitor.rest().isEmpty)
    #expect(await janitor.stop() == 64)
  }

  @Test("Without a key for Apple, an iPhone's deliveries wait for the credential, and go once a worker has one")
  func credential() async throws {
    let apple = ["ORCA_PUSH_APNS_KEY", "ORCA_PUSH_APNS_KEY_ID", "ORCA_PUSH_APPLE_TEAM_ID"]
    let given = Locked<[String: String]>([:])
    try await Gateway.run(
      .sqlite,
      worker: { settings, _ in
        given.withLock { [settings] in $0 = settings.filter { apple.contains($0.key) } }
        for variable in apple { settings[variable] = nil }
      }
    ) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let id = try #require(
          try await host.post(
            "/v1/devices",
            .object([
              "v": .integer(1), "deviceId": .string("a"), "platform": .string("ios"),
              "apnsEnvironment": .string("production"), "token": .string(Self.token("sent", "ios")),
            ]))["registrationId"])
        try await send(host, id, seq: 1, "sent")
        // Nobody tells when a record changes; this one does within two looks of the worker, 5 s apart.
        var record = try await record(host, "sent", "pending")
        while record["waitsFor"] == .string("worker") {
          try await Task.sleep(for: .milliseconds(100))
          record = try await self.record(host, "sent", "pending")
        }
        #expect(record["waitsFor"] == .string("credential"))
        #expect(record["detail"]?.string?.contains("no credential") == true)
        try await gateway.programs.startWorker(given.withLock { $0 })
        try await gateway.answered("apns", count: 1)
        let sent = try await self.record(host, "sent", "sent")
        #expect(sent["retryReason"]?.string == "parked: no credential")
      }
    }
  }

  @Test("How a fingerprint begins must mean one host")
  func ambiguity() async throws {
    try await Gateway.run(.sqlite) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let id = try #require(
          try await host.post(
            "/v1/devices",
            .object([
              "v": .integer(1), "deviceId": .string("a"), "platform": .string("android"),
              "token": .string(Self.token("sent", "android")),
            ]))["registrationId"])
        try await send(host, id, seq: 1, "sent")
        _ = try await record(host, "sent", "sent")
        // A host whose fingerprint differs in the last character alone.
        let script = """
          import sqlite3, sys
          with sqlite3.connect(sys.argv[1], timeout=20) as file:
              file.execute("insert into push_hosts (fingerprint) values (?)", [sys.argv[2]])
          print("done")
          """
        let twin = host.fingerprint.dropLast() + (host.fingerprint.hasSuffix("A") ? "Q" : "A")
        let path = try #require(gateway.store["ORCA_PUSH_DATA_DIR"]) + "/push.sqlite3"
        let python = try Program("twin", running: ["python3", "-c", script, path, String(twin)])
        #expect(try await python.line() == "done")
        await python.stop()
        #expect(try await explain(gateway, [String(host.fingerprint.prefix(15)), "sent & more", "1"]).code == 65)
        #expect(try await explain(gateway, [host.fingerprint, "sent & more", "1"]).code == 0)
      }
    }
  }
}
