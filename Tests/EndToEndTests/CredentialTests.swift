import Foundation
import Http
import Json
import Keys
import Loop
import Testing

/// Keys and certificates that change while the real worker sends.
@Suite(.serialized, .timeLimit(.minutes(4))) struct CredentialTests {
  private static let iphone = String(repeating: "0a1b2c3d4e5f6071", count: 4)
  private static let android = "c0ffee:APA91b" + String(repeating: "k-_3", count: 30)

  // MARK: Apple's key

  @Test("Apple's key changes by its file, while pushes go: none fails, and a corrupt or unknown key changes nothing")
  func appleKey() async throws {
    let new = try Es256Key.generate()
    try await Gateway.run(
      .sqlite,
      worker: { settings, folder in
        for name in ["ORCA_PUSH_APNS_KEY", "ORCA_PUSH_APNS_KEY_ID"] { settings[name] = nil }
        settings["ORCA_PUSH_APNS_KEY_FILE"] = folder.appending(path: "apns.p8").path
        settings["ORCA_PUSH_METRICS_PORT"] = "\(try FreePort.find())"
        try Self.point(folder, "apns.p8", to: "sandbox/AuthKey_SANDBOXKEY.p8")
      }
    ) { gateway in
      let folder = gateway.folder
      try await PythonHost.run(on: gateway) { host in
        var traffic = Traffic(host, try await Traffic.register(host, ios: Self.iphone))
        try await traffic.send(5)

        try "-----BEGIN PRIVATE KEY-----\nAAAA\n".write(
          to: folder.appending(path: "AuthKey_CORRUPT000.p8"), atomically: true, encoding: .utf8)
        try Self.point(folder, "apns.p8", to: "AuthKey_CORRUPT000.p8")
        try await gateway.worker.hangUp()
        let corrupt = try await gateway.worker.logged("a new credential cannot be used, the old ones stay")
        #expect(corrupt["reason"]?.string?.hasPrefix("ORCA_PUSH_APNS_KEY_FILE names a file that seems to be") == true)
        try await traffic.send(5)

        try new.privateKeyPem().write(
          to: folder.appending(path: "AuthKey_SECONDKEY0.p8"), atomically: true, encoding: .utf8)
        try Self.point(folder, "apns.p8", to: "AuthKey_SECONDKEY0.p8")
        try await gateway.worker.hangUp()
        #expect(
          try await gateway.worker.logged("credentials read again")["changed"]?.string == "apnsProduction apnsSandbox")
        // Apple does not know it yet.
        try await traffic.send(1)
        let refused = try await gateway.worker.logged("the new credential is refused, the old one stays in use")
        #expect(refused["reason"]?.string?.hasPrefix("InvalidProviderToken: key id SECONDKEY0") == true)
        try await traffic.send(5)
        let ready = try await Self.ready(gateway)
        #expect(ready.status == 200 && ready.text.contains("the new one is refused: InvalidProviderToken"))

        let pem = String(decoding: JsonText.string(new.publicKeyPem()), as: UTF8.self)
        try await gateway.script(
          #"{"keys":[{"keyId":"SECONDKEY0","publicKey":\#(pem)}],"requireKey":{"keyId":"SECONDKEY0","afterMs":1000}}"#)
        try await traffic.send(60, every: 40)
        _ = try await gateway.worker.logged("the new credential works and has replaced the old one")
        try await traffic.expectAll("apns", gateway)
        // One trial too early, and one push that met the old key's end: both went at once with the other key.
        let faults = try await gateway.log("apns").filter { $0["answer"]?["status"] != .integer(200) }
        #expect(faults.allSatisfy { $0["answer"]?["reason"] == .string("InvalidProviderToken") })
        #expect((1...4).contains(faults.count))
      }
    }
  }

  // MARK: Google's key

  @Test("A service account's key changes by its file alone, while pushes go: none fails")
  func serviceAccount() async throws {
    let new = try Rs256Key.generate()
    try await Gateway.run(
      .sqlite,
      worker: { settings, folder in
        settings["GOOGLE_APPLICATION_CREDENTIALS"] = folder.appending(path: "account.json").path
        try Self.point(folder, "account.json", to: "sandbox/service-account.json")
      }
    ) { gateway in
      let folder = gateway.folder
      try await PythonHost.run(on: gateway) { host in
        var traffic = Traffic(host, try await Traffic.register(host, android: Self.android))
        try await traffic.send(5)
        let pem = String(decoding: JsonText.string(new.publicKeyPem()), as: UTF8.self)
        try await gateway.script(#"{"serviceKeys":[{"keyId":"second","publicKey":\#(pem)}]}"#)
        let file = try Data(contentsOf: folder.appending(path: "sandbox/service-account.json"))
        guard var account = try JSONSerialization.jsonObject(with: file) as? [String: Any] else {
          throw CocoaError(.fileReadCorruptFile)
        }
        account["private_key_id"] = "second"
        account["private_key"] = new.privateKeyPem()
        try JSONSerialization.data(withJSONObject: account).write(to: folder.appending(path: "second.json"))
        try Self.point(folder, "account.json", to: "second.json")
        #expect(try await gateway.worker.logged("credentials read again")["changed"]?.string == "fcm")
        try await traffic.send(1)
        _ = try await gateway.worker.logged("the new credential works and has replaced the old one")
        try await gateway.script(#"{"requireServiceKey":{"keyId":"second"},"revokeAccessTokens":true}"#)
        try await traffic.send(20, every: 20)
        try await traffic.expectAll("fcm", gateway)
        let faults = try await gateway.log("fcm").compactMap { $0["answer"]?["status"]?.integer }.filter { $0 != 200 }
        #expect(faults.allSatisfy { $0 == 401 } && faults.count <= 20)
      }
    }
  }

  // MARK: Trust and clocks

  @Test("An authority that is not trusted parks the lanes and is named; once mended, everything goes out")
  func trust() async throws {
    try await Gateway.run(
      .sqlite,
      worker: { settings, folder in
        let other = try CertificateAuthority.make(name: "Another authority")
        try other.certificatePem.write(
          to: folder.appending(path: "other.pem"), atomically: true, encoding: .utf8)
        settings["ORCA_PUSH_PROVIDER_CA_FILE"] = folder.appending(path: "ca.pem").path
        settings["ORCA_PUSH_METRICS_PORT"] = "\(try FreePort.find())"
        try Self.point(folder, "ca.pem", to: "other.pem")
      }
    ) { gateway in
      try await PythonHost.run(on: gateway) { host in
        var traffic = Traffic(host, try await Traffic.register(host, ios: Self.iphone))
        try await traffic.send(3)
        let parked = try await gateway.worker.logged("lane parked")
        #expect(parked["reason"]?.string?.hasPrefix("tls: TLS trust: certificate verify failed") == true)
        let ready = try await Self.ready(gateway)
        #expect(ready.status == 503 && ready.text.contains("TLS trust"))
        #expect(try await gateway.log("apns").isEmpty)

        try Self.point(gateway.folder, "ca.pem", to: "sandbox/ca.pem")
        try await gateway.worker.hangUp()
        _ = try await gateway.worker.logged("lane open again")
        try await traffic.expectAll("apns", gateway)
        #expect(try await Self.ready(gateway).status == 200)
      }
    }
  }

  @Test("Eight workers and two hundred pushes show Apple one token")
  func fleet() async throws {
    let step = { Int64(Date().timeIntervalSince1970) / 3_000 }
    let before = step()
    try await Gateway.run(.postgres) { gateway in
      var others: [Program] = []
      for _ in 0..<7 {
        let worker = try Program("worker", environment: gateway.workerSettings)
        others.append(worker)
        _ = try await worker.logged("ready")
      }
      try await PythonHost.run(on: gateway) { host in
        let phones = (0..<10).map { String(repeating: "0", count: 62) + String($0 + 16, radix: 16) }
        var registrations: [JsonValue] = []
        for phone in phones { registrations += try await Traffic.register(host, ios: phone) }
        var traffic = Traffic(host, registrations)
        try await traffic.send(20)
        try await traffic.expectAll("apns", gateway)
        let requests = try await gateway.log("apns")
        let tokens = Set(requests.compactMap { $0["credential"]?["digest"]?.string })
        #expect(tokens.count == 1 || step() != before)
      }
      for worker in others { #expect(await worker.stop() == 0) }
    }
  }

  // MARK: Helpers of these tests

  /// Makes `name` a link to `target`, in one step, as those who replace files do.
  private static func point(_ folder: URL, _ name: String, to target: String) throws {
    let draft = folder.appending(path: name + ".new").path
    try FileManager.default.createSymbolicLink(atPath: draft, withDestinationPath: target)
    guard rename(draft, folder.appending(path: name).path) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  @LoopActor
  private static func ready(_ gateway: Gateway) async throws -> (status: Int, text: String) {
    let url = try #require(Url("http://127.0.0.1:\(gateway.workerSettings["ORCA_PUSH_METRICS_PORT"] ?? "")/ready"))
    let answer = try await Http1Client.send("GET", url, deadline: 10_000)
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }
}
