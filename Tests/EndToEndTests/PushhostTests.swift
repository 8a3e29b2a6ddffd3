import Foundation
import Json
import Testing

/// The host's command, against the whole gateway of real programs.
@Suite(.serialized, .timeLimit(.minutes(4))) struct PushhostTests {
  private static let iphone = String(repeating: "0badcafe0badcafe", count: 4)
  private static let android = "c0ffee:APA91b" + String(repeating: "Yy-7", count: 30)

  /// A host with a folder of its own.
  private struct Host {
    let gateway: Gateway
    let folder: String

    func run(_ arguments: String..., input: String = "", killedAfter: Int? = nil) async throws
      -> Command
    {
      try await Command.run(
        "pushhost", arguments + ["--json"],
        environment: ["ORCA_PUSH_GATEWAY_URL": gateway.address, "PUSHHOST_DIR": folder],
        input: input,
        killedAfter: killedAfter)
    }

    /// The JSON of a run that must end with 0.
    func ok(_ arguments: String..., input: String = "") async throws -> JsonValue {
      let command = try await Command.run(
        "pushhost", arguments + ["--json"],
        environment: ["ORCA_PUSH_GATEWAY_URL": gateway.address, "PUSHHOST_DIR": folder],
        input: input)
      try #require(command.code == 0, "\(arguments): \(command.code) \(command.errors)")
      return command.json
    }
  }

  private func withHost(_ kind: Gateway.StoreKind, _ body: (Host) async throws -> Void) async throws {
    try await Gateway.run(kind, isNamed: false) { gateway in
      let host = Host(gateway: gateway, folder: gateway.folder.appending(path: "host").path)
      #expect(try await host.ok("keygen")["created"] == .bool(true))
      try await body(host)
    }
  }

  @Test(
    "A host's day: phones come, are sent to, dismissed, and go",
    arguments: Gateway.StoreKind.allCases)
  func day(kind: Gateway.StoreKind) async throws {
    try await withHost(kind) { host in
      let key = try await host.ok("keygen")
      #expect(key["created"] == .bool(false))
      let fingerprint = try #require(key["hostFingerprint"]?.string)
      _ = try await host.ok(
        "register", "iphone", "--platform", "ios", "--token-file", "-", input: Self.iphone + "\n")
      _ = try await host.ok(
        "register", "android", "--platform", "android", "--token-file", "-", "--silent",
        input: Self.android)
      let listed = try await host.ok("devices")["devices"]?.array ?? []
      #expect(listed.map { $0["deviceId"]?.string } == ["iphone", "android"])
      #expect(listed.allSatisfy { $0["state"]?.string == "ok" })

      let sent = try await host.ok(
        "send", "--title", "Backup finished", "--body", "3 GB", "--id", "backup", "--state",
        "finished")
      #expect(sent["results"]?.array?.map { $0["status"]?.string } == ["queued", "queued"])
      let apns = try #require(try await host.gateway.requests("apns", count: 1).first)
      #expect(apns["body"]?["aps"]?["alert"]?["title"]?.string == "Backup finished")
      #expect(apns["body"]?["orca"]?["hostFingerprint"]?.string == fingerprint)
      #expect(
        apns["body"]?["orca"]?["notificationSeq"]?.integer == sent["notificationSeq"]?.integer)
      let fcm = try #require(try await host.gateway.requests("fcm", count: 1).first)
      #expect(
        fcm["body"]?["message"]?["android"]?["notification"]?["channel_id"]?.string
          == "orca-desktop-silent")

      // What the worker writes down comes a moment after what the provider saw.
      var states: [String?] = []
      while states != ["sent", "sent"] {
        states = try await host.ok("status")["deliveries"]?.array?.map { $0["state"]?.string } ?? []
      }
      #expect(try await host.run("status", "999").json["error"]?["reason"]?.string == "unknown_event")

      _ = try await host.ok("dismiss", "backup")
      let dismissal = try #require(try await host.gateway.requests("apns", count: 2).last)
      #expect(dismissal["body"]?["orca"]?["kind"]?.string == "dismiss")
      #expect(dismissal["body"]?["orca"]?["notificationId"]?.string == "backup")

      #expect(try await host.ok("unregister", "iphone")["gatewayTold"] == .bool(true))
      #expect(
        try await host.ok("devices")["devices"]?.array?.map { $0["deviceId"]?.string } == [
          "android"
        ])
      #expect(try await host.run("unregister", "iphone").code == 66)
      let findings = try await host.ok("doctor")["findings"]?.array ?? []
      #expect(
        findings.map { $0["step"]?.string } == [
          "connection", "clock", "proof", "session", "devices",
        ])
    }
  }

  @Test("A sealed phone's push holds nothing to read on its way")
  func sealed() async throws {
    try await withHost(.sqlite) { host in
      let secret = host.folder + "-secret"
      try Data("a secret of two\n".utf8).write(to: URL(filePath: secret))
      _ = try await host.ok(
        "register", "iphone", "--platform", "ios", "--token-file", "-", "--secret-file", secret,
        input: Self.iphone)
      _ = try await host.ok(
        "send", "--text-file", "-", "--id", "who-knows", "--worktree", "wt-where",
        input: "Top-secret title\nA secret body"
      )
      let apns = try #require(try await host.gateway.requests("apns", count: 1).first)
      #expect(apns["body"]?["aps"]?["alert"]?["title"]?.string == "New notification")
      #expect(try await host.ok("status")["deliveries"]?.array?.map { $0["deviceId"]?.string } == ["iphone"])
      #expect(apns["body"]?["orca"]?["paneKey"]?.string?.hasPrefix("e2e1:") == true)
      let text = String(decoding: JsonText.render(apns), as: UTF8.self)
      for word in ["Top-secret", "secret body", "who-knows", "wt-where"] { #expect(!text.contains(word)) }
    }
  }

  @Test("Each refusal ends with its code and says why, in JSON too")
  func codes() async throws {
    try await withHost(.sqlite) { host in
      func expect(_ code: Int32, _ reason: String, _ command: Command) {
        #expect(command.code == code, "\(command.errors)")
        #expect(command.json["error"]?["reason"]?.string == reason, "\(command.output)")
        #expect(command.errors.hasPrefix("pushhost: "))
      }
      expect(64, "usage", try await host.run("frob"))
      expect(64, "usage", try await host.run("send"))
      let slip = try await host.run("send", "--titel", "x")
      expect(64, "usage", slip)
      #expect(slip.errors == "pushhost: there is no --titel for send; see pushhost send --help\n")
      let untitled = try await host.run("send", "--title", "")
      expect(64, "usage", untitled)
      #expect(untitled.errors.contains("the title is empty"))
      expect(64, "usage", try await host.run("register", "a", "--platform", "windows"))
      expect(
        66, "input",
        try await host.run("register", "a", "--platform", "ios", "--token-file", "/does/not/exist"))
      expect(1, "no_phones", try await host.run("send", "--title", "x"))
      expect(
        77, "invalid_request",
        try await host.run("register", "a", "--platform", "ios", "--token-file", "-", input: "xyz"))
      expect(69, "unreachable", try await host.run("devices", "--gateway", "http://127.0.0.1:1"))
      expect(
        78, "configuration", try await host.run("devices", "--gateway", "http://push.example.com"))
      expect(73, "no_key", try await host.run("devices", "--dir", host.folder + "-other"))
      // The gateway knows itself by one address: another is not vouched for, and doctor says so.
      let other = host.gateway.address.replacing("127.0.0.1", with: "localhost")
      let misnamed = try await host.run("devices", "--gateway", other)
      expect(77, "refused_proof", misnamed)
      #expect(misnamed.errors.hasSuffix("; see pushhost doctor\n"))
      let doctor = try await host.run("doctor", "--gateway", other)
      #expect(doctor.code == 1)
      #expect(
        doctor.json["findings"]?.array?.last?["message"]?.string?.contains(
          "calls itself by another address") == true)
      // No message tells a token or a key.
      let bad = try await host.run(
        "register", "a", "--platform", "ios", "--token-file", "-", input: "feedfacebeef1")
      #expect(!(bad.output + bad.errors).contains("feedface"))
      // Of proofs each address has 15 a minute.
      var proofs = 0
      while try await host.run("doctor").code == 0, proofs < 30 { proofs += 1 }
      try FileManager.default.removeItem(atPath: host.folder + "/session.json")
      expect(75, "throttled", try await host.run("devices"))
    }
  }

  @Test(
    "Many runs on one folder neither lose a number nor end each other's session; some are killed at any moment"
  )
  func contention() async throws {
    try await withHost(.sqlite) { host in
      _ = try await host.ok(
        "register", "iphone", "--platform", "ios", "--token-file", "-", input: Self.iphone)
      // Spread over what a run takes, in no order.
      let moments = (0..<12).map { 5 + $0 * 7 % 12 * 33 }
      let numbers: [Int64] = try await withThrowingTaskGroup(of: Int64?.self) { group in
        for round in 0..<24 {
          group.addTask {
            let isKilled = round % 2 == 1
            let name = isKilled ? "killed" : "kept"
            let sent = try await host.run(
              "send", "--title", name, "--id", "\(name)-\(round)",
              killedAfter: isKilled ? moments[round / 2] : nil)
            if !isKilled { #expect(sent.code == 0, "\(sent.errors)") }
            return isKilled ? nil : sent.json["notificationSeq"]?.integer
          }
        }
        return try await group.reduce(into: []) { all, number in
          if let number { all.append(number) }
        }
      }
      #expect(numbers.count == 12)
      #expect(Set(numbers).count == 12)
      // Everything is as it was, and works.
      let devices = try await host.ok("devices")["devices"]?.array ?? []
      #expect(devices.map { $0["state"]?.string } == ["ok"])
      let last = try #require(
        try await host.ok("send", "--title", "after")["notificationSeq"]?.integer)
      #expect(last > numbers.max() ?? .max)
    }
  }

  @Test("Runs that find no session, or one that a copy of the folder has ended, lose no push")
  func sharing() async throws {
    try await withHost(.sqlite) { host in
      _ = try await host.ok(
        "register", "iphone", "--platform", "ios", "--token-file", "-", input: Self.iphone)
      func sendAtOnce() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<6 {
            group.addTask {
              let sent = try await host.run("send", "--title", "at once", "--id", "\(number)")
              #expect(sent.code == 0, "\(sent.errors)")
            }
          }
          try await group.waitForAll()
        }
      }
      let copy = Host(gateway: host.gateway, folder: host.folder + "-copy")
      for _ in 0..<3 {
        try FileManager.default.removeItem(atPath: host.folder + "/session.json")
        try await sendAtOnce()
      }
      try FileManager.default.copyItem(atPath: host.folder, toPath: copy.folder)
      for _ in 0..<3 {
        // It proves anew, which ends the session that the first folder has.
        _ = try await copy.ok("doctor")
        try await sendAtOnce()
      }
    }
  }

  @Test("No run talks to a gateway that nobody named, and each says which it talks to")
  func naming() async throws {
    try await withHost(.sqlite) { host in
      func run(_ arguments: String..., gateway: String? = nil) async throws -> Command {
        var environment = ["PUSHHOST_DIR": host.folder]
        environment["ORCA_PUSH_GATEWAY_URL"] = gateway
        return try await Command.run("pushhost", arguments, environment: environment, input: Self.iphone)
      }
      let register = ["register", "iphone", "--platform", "ios", "--token-file", "-"]
      for words in [register, ["devices"], ["send", "--title", "x"], ["doctor"], ["status", "1", "--epoch", "e"]] {
        let refused = try await Command.run(
          "pushhost", words + ["--json"], environment: ["PUSHHOST_DIR": host.folder], input: Self.iphone)
        #expect(refused.code == 78, "\(words)")
        #expect(refused.json["error"]?["reason"]?.string == "no_gateway", "\(words)")
        #expect(refused.errors.contains("ORCA_PUSH_GATEWAY_URL"))
      }
      #expect(try await run("keygen").code == 0)
      #expect(try await run("--help").output.contains("no default"))

      let nowhere = "http://127.0.0.1:1"
      let unreached = try await run("devices", gateway: nowhere)
      #expect(unreached.errors == "pushhost: \(nowhere) cannot be reached: connection refused; see pushhost doctor\n")
      let doctor = try await run("doctor", gateway: nowhere)
      #expect(doctor.output.hasPrefix("FAULT connection: \(nowhere) cannot be reached: connection refused. "))
      let address = host.gateway.address
      let registered = try await Command.run(
        "pushhost", register, environment: ["PUSHHOST_DIR": host.folder, "ORCA_PUSH_GATEWAY_URL": address],
        input: Self.iphone)
      #expect(registered.output.hasPrefix("Registered iphone at \(address): "), "\(registered.errors)")

      let sent = try await run("send", "--title", "x", gateway: address)
      let next = try await host.ok("send", "--title", "y")
      let seq = try #require(next["notificationSeq"]?.integer)
      let epoch = try #require(next["notificationEpoch"]?.string)
      #expect(sent.output == "iphone  queued as \(seq - 1)\nevent \(seq - 1) of epoch \(epoch) at \(address)\n")
    }
  }

  @Test("A gateway on this machine is asked without the proxy that is meant for others")
  func proxy() async throws {
    try await withHost(.sqlite) { host in
      for exceptions in ["", "example.com"] {
        let environment = [
          "ORCA_PUSH_GATEWAY_URL": host.gateway.address, "PUSHHOST_DIR": host.folder, "no_proxy": exceptions,
          // Nobody listens there.
          "http_proxy": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1",
        ]
        let listed = try await Command.run("pushhost", ["devices"], environment: environment)
        #expect(listed.code == 0, "\(listed.errors)")
      }
    }
  }

  @Test("What keeps a push from a phone is told with what to do")
  func advice() async throws {
    try await withHost(.sqlite) { host in
      let registered = try await host.ok(
        "register", "iphone", "--platform", "ios", "--token-file", "-", input: Self.iphone)
      let id = try #require(registered["registrationId"]?.string)
      let file = URL(filePath: host.folder + "/phones.json")
      let phones = try String(contentsOf: file, encoding: .utf8)
      func write(_ text: String) throws {
        // Written in place, so that it stays its owner's alone.
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
      }
      // As after a change of gateway: the one that is asked never gave this id.
      try write(phones.replacing(id, with: "of-another-gateway"))
      let unknown = try await host.run("send", "--title", "x")
      #expect(unknown.code == 1)
      let result = unknown.json["results"]?.array?.first
      #expect(result?["status"]?.string == "error")
      #expect(
        result?["detail"]?.string == "it is not registered at \(host.gateway.address): register it again")
      try write(phones)
      _ = try await host.ok("send", "--title", "x")

      try write("{\"v\":1")
      let damaged = try await host.run("send", "--title", "x")
      #expect(damaged.code == 73)
      #expect(damaged.errors == "pushhost: \(file.path): is damaged: register the phones again\n")
      _ = try await host.ok(
        "register", "iphone", "--platform", "ios", "--token-file", "-", input: Self.iphone)
      _ = try await host.ok("send", "--title", "x")
    }
  }

  @Test("Runs that register and let go at once leave here and there in agreement")
  func registering() async throws {
    try await withHost(.sqlite) { host in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for round in 0..<16 {
          group.addTask {
            let device = "d\(round % 4)"
            let token = String(repeating: "ab\(round % 4)0", count: 16)
            if round % 3 == 2 {
              _ = try await host.run("unregister", device, killedAfter: round % 2 == 0 ? 150 : nil)
            } else {
              _ = try await host.run(
                "register", device, "--platform", "ios", "--token-file", "-", input: token,
                killedAfter: round % 5 == 4 ? 150 : nil)
            }
          }
        }
        try await group.waitForAll()
      }
      // A last word of each, then both sides know the same phones.
      for number in 0..<4 {
        let token = String(repeating: "cd\(number)0", count: 16)
        _ = try await host.ok(
          "register", "d\(number)", "--platform", "ios", "--token-file", "-", input: token)
      }
      let devices = try await host.ok("devices")["devices"]?.array ?? []
      #expect(devices.count == 4)
      #expect(devices.allSatisfy { $0["state"]?.string == "ok" }, "\(devices)")
    }
  }

  @Test("The example of docs/hosts.md is the file that is built, and brings a line to a phone")
  func bridge() async throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/hosts.md"), encoding: .utf8)
    let source = try String(
      contentsOf: root.appending(path: "docs/bridge/Bridge.swift"), encoding: .utf8)
    #expect(page.contains("<!-- docs/bridge/Bridge.swift -->\n```swift\n\(source)```\n"))
    #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 40)
    try await Gateway.run(.sqlite, isNamed: false) { gateway in
      try Data(Self.android.utf8).write(to: gateway.folder.appending(path: "token.txt"))
      let ran = try await Command.run(
        "bridge", [gateway.address, "my-phone", "token.txt"], input: "It   builds\n",
        in: gateway.folder)
      #expect(ran.code == 0, "\(ran.output) \(ran.errors)")
      let fcm = try #require(try await gateway.requests("fcm", count: 1).first)
      #expect(fcm["body"]?["message"]?["notification"]?["title"]?.string == "It builds")

      // What is wrong is told in a line.
      let bare = try await Command.run("bridge", [], in: gateway.folder)
      #expect(bare.code == 64)
      #expect(bare.errors == "bridge: usage: bridge GATEWAY DEVICE TOKEN-FILE\n")
      let away = try await Command.run("bridge", ["http://127.0.0.1:1", "my-phone", "token.txt"], in: gateway.folder)
      #expect(away.code == 1)
      #expect(away.errors == "bridge: gateway_unreachable: the gateway cannot be reached: connection refused\n")
      let slash = try await Command.run("bridge", [gateway.address + "/", "my-phone", "token.txt"], in: gateway.folder)
      #expect(slash.errors.hasPrefix("bridge: the gateway's address must be an origin"))
      let missing = try await Command.run("bridge", [gateway.address, "my-phone", "nowhere"], in: gateway.folder)
      #expect(missing.errors == "bridge: cannot read nowhere\n")
    }
  }

  @Test("Shells take the completion scripts", arguments: ["bash", "zsh", "fish"])
  func completion(shell: String) async throws {
    let script = try await Command.run("pushhost", ["completion", shell])
    #expect(script.code == 0)
    #expect(script.output.contains("unregister") && script.output.contains("token-file"))
    func complete(_ words: String) -> String {
      let index = words.split(separator: " ").count - 1
      return "\nCOMP_WORDS=(\(words)) COMP_CWORD=\(index); _pushhost; echo \"${COMPREPLY[*]}\""
    }
    switch shell {
    case "bash":
      let probe =
        script.output + complete("pushhost register x --platform ''") + complete("pushhost dev")
        + complete("pushhost send --ti")
      let bash = try await Command.run("/bin/bash", ["-c", probe])
      #expect(bash.output == "ios android\ndevices\n--title\n", "\(bash.errors)")
    case "zsh":
      // Without compinit, as in a shell that nobody has set up; what the word rules out is left to zsh.
      let probe =
        script.output + "\necho ${_comps[pushhost]}; setopt ksharrays" + complete("pushhost register x --platform ''")
      let zsh = try await Command.run("/usr/bin/env", ["zsh", "-f", "-c", probe])
      #expect(zsh.output == "_bash_complete -F _pushhost\nios android\n", "\(zsh.errors)")
    default:
      let wishes = ["pushhost register x --platform ", "pushhost dev", "pushhost send --ti", "pushhost send "]
      let probe = script.output + "\n" + wishes.map { "complete -C '\($0)'\n" }.joined()
      let fish = try await Command.run("/usr/bin/env", ["fish", "--no-config", "-c", probe])
      let found = fish.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
      #expect(found == ["android", "ios", "devices", "--title"], "\(fish.errors)")
    }
  }

  @Test("Whoever watches a terminal is told what takes long, and a script is not")
  func progress() async throws {
    let silent = try SilentServer()
    let folder = FileManager.default.temporaryDirectory.appending(path: "pushhost-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let environment = ["PUSHHOST_DIR": folder, "ORCA_PUSH_GATEWAY_URL": "http://127.0.0.1:\(silent.port)"]
    let keygen = try await Command.run("pushhost", ["keygen"], environment: environment)
    #expect(keygen.code == 0)
    let pushhost = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "pushhost").path
    // A terminal of its own, by util-linux.
    let watched = try await Command.run(
      "/usr/bin/script", ["-qec", "\(pushhost) devices", "/dev/null"], environment: environment)
    #expect(watched.code == 69)
    #expect(watched.output.hasPrefix("Asking the gateway …\r\npushhost: http://127.0.0.1:"), "\(watched.output)")
    #expect(watched.output.contains(" timed out: no answer in 15 s; see pushhost doctor"))
    let piped = try await Command.run("pushhost", ["devices"], environment: environment, killedAfter: 3_000)
    #expect(piped.output.isEmpty && piped.errors.isEmpty)
  }
}
