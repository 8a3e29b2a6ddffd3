import Contract
import Foundation
import Keys
import Testing

@testable import Operations

/// One environment that a program must refuse: the variables, and what the one fault must say.
struct Refusal: Sendable, CustomTestStringConvertible {
  let variable: String
  let value: String
  let says: String

  init(_ variable: String, _ value: String, _ says: String) {
    self.variable = variable
    self.value = value
    self.says = says
  }

  var testDescription: String { "\(variable)=\(value.prefix(40))" }
}

func faults(_ read: () throws(ConfigurationFaults) -> Void) -> [ConfigurationFault] {
  do throws(ConfigurationFaults) {
    try read()
    return []
  } catch {
    return error.faults
  }
}

@Suite struct ConfigurationTests {
  @Test func `The api needs nothing but its public address`() throws {
    let api = try ApiConfiguration(environment: Samples.api)
    #expect(api.port == 8080)
    #expect(api.publicOrigin.text == "https://push.example.org")
    #expect(api.mode == .active)
    #expect(api.trustedProxyHops == 0)
    #expect(api.metricsPort == nil)
    #expect(api.database.poolMax == 10)
    guard case .sqlite(let folder) = api.database.place else {
      Issue.record("not SQLite")
      return
    }
    #expect(folder == FileManager.default.currentDirectoryPath + "/data")
  }

  @Test(arguments: [("here/push", "/here/push"), ("./here", "/here"), ("../beside", "/../beside")])
  func `A folder is told from the root, however it was written`(written: String, below: String) throws {
    let janitor = try JanitorConfiguration(environment: ["ORCA_PUSH_DATA_DIR": written])
    guard case .sqlite(let folder) = janitor.database.place else {
      Issue.record("not SQLite")
      return
    }
    #expect(folder == FileManager.default.currentDirectoryPath + below)
  }

  @Test func `The worker needs nothing`() throws {
    let worker = try WorkerConfiguration(environment: [:])
    #expect(worker.apns == nil)
    #expect(worker.authorities == nil)
    #expect(worker.lanes == 4)
    #expect(worker.batch == 64)
    #expect(worker.fcm.projectId == "onorca-cloud")
    #expect(worker.fcm.alerts == .notification)
    #expect(worker.fcm.origin.text == "https://fcm.googleapis.com")
    guard case .metadataServer(let server) = worker.fcm.credential else {
      Issue.record("not the metadata server")
      return
    }
    #expect(server.text == "http://metadata.google.internal")
  }

  @Test func `The janitor needs nothing`() throws {
    let janitor = try JanitorConfiguration(environment: ["ORCA_PUSH_DATABASE_URL": "postgres://u:pw@h/db"])
    guard case .postgres(let url) = janitor.database.place else {
      Issue.record("not Postgres")
      return
    }
    #expect(url.reveal() == "postgres://u:pw@h/db")
  }

  @Test func `Everything that is set is read, white space around it cut`() throws {
    let file = try ScratchFile(CertificateTests.certificate)
    let environment = Samples.worker.merging([
      "ORCA_PUSH_MODE": "validation", "ORCA_PUSH_DATABASE_POOL_MAX": "3", "ORCA_PUSH_WORKER_LANES": " 2\n",
      "ORCA_PUSH_WORKER_BATCH": "500", "ORCA_PUSH_METRICS_PORT": "9100", "ORCA_PUSH_APNS_TOPIC": "org.example.App",
      "ORCA_PUSH_APNS_SANDBOX_KEY": Samples.apnsKey, "ORCA_PUSH_APNS_SANDBOX_KEY_ID": "SANDBOX123\r\n",
      "ORCA_PUSH_APNS_PRODUCTION_URL": "https://localhost:2197", "ORCA_PUSH_APNS_SANDBOX_URL": "http://127.0.0.1:99",
      "ORCA_PUSH_FCM_URL": "https://mirror.example.org:8443", "ORCA_PUSH_FCM_PROJECT_ID": "my-project",
      "ORCA_PUSH_FCM_ALERTS": "data", "ORCA_PUSH_PROVIDER_CA_FILE": file.path, "GCE_METADATA_HOST": "127.0.0.1:8900",
      "ORCA_PUSH_DATA_DIR": "/var/lib/push",
    ]) { $1 }
    let worker = try WorkerConfiguration(environment: environment)
    #expect(worker.mode == .validation)
    #expect(worker.lanes == 2 && worker.batch == 500 && worker.metricsPort == 9100 && worker.database.poolMax == 3)
    let apns = try #require(worker.apns)
    #expect(apns.teamId == "TEAM567890" && apns.topic == "org.example.App")
    #expect(apns.production.id == "ABCDE12345" && apns.sandbox.id == "SANDBOX123")
    #expect(apns.productionOrigin.text == "https://localhost:2197")
    #expect(apns.sandboxOrigin.text == "http://127.0.0.1:99")
    #expect(worker.fcm.origin.text == "https://mirror.example.org:8443")
    #expect(worker.fcm.projectId == "my-project" && worker.fcm.alerts == .data)
    #expect(worker.authorities?.path == file.path)
    guard case .metadataServer(let server) = worker.fcm.credential, case .sqlite(let folder) = worker.database.place
    else {
      Issue.record("another credential or database")
      return
    }
    #expect(server.text == "http://127.0.0.1:8900")
    #expect(folder == "/var/lib/push")
  }

  @Test func `One key serves both of Apple's environments unless there are two`() throws {
    let apns = try #require(try WorkerConfiguration(environment: Samples.worker).apns)
    #expect(apns.sandbox.id == apns.production.id)
    #expect(apns.topic == "com.stably.orca.mobile")
    #expect(apns.productionOrigin.text == "https://api.push.apple.com")
    #expect(apns.sandboxOrigin.text == "https://api.sandbox.push.apple.com")
  }

  @Test func `An empty value counts as absent, but for the mode`() throws {
    let names = [
      "PORT", "ORCA_PUSH_DATABASE_URL", "ORCA_PUSH_DATA_DIR", "ORCA_PUSH_APNS_KEY", "ORCA_PUSH_APNS_KEY_ID",
      "ORCA_PUSH_APPLE_TEAM_ID", "ORCA_PUSH_APNS_TOPIC", "ORCA_PUSH_APNS_SANDBOX_KEY", "ORCA_PUSH_APNS_SANDBOX_KEY_ID",
      "ORCA_PUSH_FCM_PROJECT_ID", "ORCA_PUSH_FCM_ALERTS", "ORCA_PUSH_TRUSTED_PROXY_HOPS", "ORCA_PUSH_METRICS_PORT",
      "ORCA_PUSH_DATABASE_POOL_MAX", "ORCA_PUSH_WORKER_LANES", "ORCA_PUSH_WORKER_BATCH", "ORCA_PUSH_FCM_URL",
      "ORCA_PUSH_APNS_PRODUCTION_URL", "ORCA_PUSH_APNS_SANDBOX_URL", "ORCA_PUSH_PROVIDER_CA_FILE",
      "GOOGLE_APPLICATION_CREDENTIALS", "GCE_METADATA_HOST",
    ]
    let empty = Dictionary(uniqueKeysWithValues: names.map { ($0, "") })
    #expect(try WorkerConfiguration(environment: empty).apns == nil)
    #expect(try ApiConfiguration(environment: empty.merging(Samples.api) { $1 }).port == 8080)
    #expect(
      faults { () throws(ConfigurationFaults) in _ = try JanitorConfiguration(environment: ["ORCA_PUSH_MODE": ""]) }
        == [ConfigurationFault("ORCA_PUSH_MODE", "must be active or validation, or be left out")])
  }

  @Test(arguments: [
    Refusal("PORT", "eighty", "must be a whole number from 0 to 65535"),
    Refusal("PORT", "-1", "from 0 to 65535"),
    Refusal("PORT", "65536", "from 0 to 65535"),
    Refusal("PORT", "+80", "whole number"),
    Refusal("PORT", "80.0", "whole number"),
    Refusal("PORT", "99999999999999999999", "whole number"),
    Refusal("ORCA_PUSH_PUBLIC_URL", "push.example.org", "must begin with https://"),
    Refusal("ORCA_PUSH_PUBLIC_URL", "https://push.example.org/", "remove the slash"),
    Refusal("ORCA_PUSH_PUBLIC_URL", "https://push.example.org/v1", "remove everything after"),
    Refusal("ORCA_PUSH_PUBLIC_URL", "http://push.example.org", "must use https"),
    Refusal("ORCA_PUSH_PUBLIC_URL", "https://user:hunter2@push.example.org", "user name or password"),
    Refusal("ORCA_PUSH_PUBLIC_URL", " ", "nothing but white space"),
    Refusal("ORCA_PUSH_PUBLIC_URL", "", "is not set"),
    Refusal("ORCA_PUSH_MODE", "Active", "must be active or validation"),
    Refusal("ORCA_PUSH_MODE", "active ", "must be active or validation"),
    Refusal("ORCA_PUSH_DATABASE_URL", "mysql://hunter2@db/x", "must begin with postgres://"),
    Refusal("ORCA_PUSH_DATABASE_URL", "host=db password=hunter2", "must begin with postgres://"),
    Refusal("ORCA_PUSH_DATABASE_URL", "postgres://u:hunter2 @db/x", "white space"),
    Refusal("ORCA_PUSH_DATABASE_POOL_MAX", "0", "from 1 to 200"),
    Refusal("ORCA_PUSH_DATA_DIR", "~/hunter2", "which a shell resolves"),
    Refusal("ORCA_PUSH_TRUSTED_PROXY_HOPS", "17", "from 0 to 16"),
    Refusal("ORCA_PUSH_METRICS_PORT", "8080", "must differ from PORT"),
    Refusal("ORCA_PUSH_METRICS_PORT", "x", "from 0 to 65535"),
  ])
  func `The api refuses and names the variable`(refusal: Refusal) {
    let found = faults { () throws(ConfigurationFaults) in
      _ = try ApiConfiguration(environment: Samples.api.merging([refusal.variable: refusal.value]) { $1 })
    }
    #expect(found.first?.variable == refusal.variable)
    #expect(found.first?.advice.contains(refusal.says) == true)
    #expect(found.allSatisfy { !$0.description.contains("hunter2") && !$0.description.contains("\n") })
  }

  @Test(arguments: [
    Refusal("ORCA_PUSH_WORKER_LANES", "0", "from 1 to 64"),
    Refusal("ORCA_PUSH_WORKER_LANES", "65", "from 1 to 64"),
    Refusal("ORCA_PUSH_WORKER_BATCH", "1001", "from 1 to 1000"),
    Refusal("ORCA_PUSH_APNS_KEY_ID", "abcde12345", "10 characters of A-Z and 0-9"),
    Refusal("ORCA_PUSH_APPLE_TEAM_ID", "TEAM56789", "10 characters of A-Z and 0-9"),
    Refusal(
      "ORCA_PUSH_APNS_KEY_ID", "",
      "ORCA_PUSH_APNS_KEY and ORCA_PUSH_APPLE_TEAM_ID are: they come together or not at all"),
    Refusal("ORCA_PUSH_APPLE_TEAM_ID", "", "come together or not at all"),
    Refusal("ORCA_PUSH_APNS_KEY", "", "is not set, nor is ORCA_PUSH_APNS_KEY_FILE, but ORCA_PUSH_APNS_KEY_ID and "),
    Refusal("ORCA_PUSH_APNS_KEY", "./AuthKey_hunter2.p8", "path"),
    Refusal("ORCA_PUSH_APNS_KEY", "/secrets/hunter2/key", "path"),
    Refusal("ORCA_PUSH_APNS_KEY", #"{"type":"service_account","private_key":"hunter2"}"#, "Google service account"),
    Refusal("ORCA_PUSH_APNS_KEY", Samples.apnsKey.replacing("gLUY", with: "gLUZ"), "private key"),
    Refusal("ORCA_PUSH_APNS_KEY", String(Samples.apnsKey.dropLast(20)), "lacks its BEGIN or END line"),
    Refusal("ORCA_PUSH_APNS_KEY", CertificateTests.certificate, "certificate"),
    Refusal("ORCA_PUSH_APNS_KEY", ServiceAccountTests.rsaKey, "EC key on P-256"),
    Refusal("ORCA_PUSH_APNS_KEY", "hunter2", "private key"),
    Refusal("ORCA_PUSH_APNS_TOPIC", "com.example/app", "bundle id"),
    Refusal("ORCA_PUSH_APNS_TOPIC", ".", "bundle id"),
    Refusal("ORCA_PUSH_APNS_TOPIC", "com..app", "bundle id"),
    Refusal("ORCA_PUSH_APNS_TOPIC", ".com.example.app", "bundle id"),
    Refusal("ORCA_PUSH_APNS_TOPIC", "com.example.app.", "bundle id"),
    Refusal("ORCA_PUSH_APNS_SANDBOX_KEY", Samples.apnsKey, "come together or not at all"),
    Refusal("ORCA_PUSH_APNS_SANDBOX_KEY_ID", "SANDBOX123", "come together or not at all"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "My Project", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "..", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "short", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "a234567890123456789012345678901", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "1st-project", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "-my-project", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "my-project-", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "my.project", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", ":my-project", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "example:my-project", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "example..com:my-project", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "example.com:", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "example.com:my-project:x", "project id"),
    Refusal("ORCA_PUSH_FCM_PROJECT_ID", "0123456789", "project id"),
    Refusal("ORCA_PUSH_FCM_ALERTS", "Data", "must be notification or data"),
    Refusal("ORCA_PUSH_APNS_PRODUCTION_URL", "http://api.example.org", "must use https"),
    Refusal("ORCA_PUSH_APNS_SANDBOX_URL", "https://api.example.org:0", "port from 1 to 65535"),
    Refusal("ORCA_PUSH_FCM_URL", "https://fcm.example.org/v1", "remove everything"),
    Refusal("ORCA_PUSH_PROVIDER_CA_FILE", "/nowhere/ca.pem", "No such file"),
    Refusal("ORCA_PUSH_PROVIDER_CA_FILE", "/tmp", "cannot be read"),
    Refusal("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json", "No such file"),
    Refusal("GOOGLE_APPLICATION_CREDENTIALS", #"{"private_key":"hunter2"}"#, "set the file's path"),
    Refusal("GCE_METADATA_HOST", "http://metadata", "without a scheme"),
    Refusal("ORCA_PUSH_METRICS_PORT", "70000", "from 0 to 65535"),
  ])
  func `The worker refuses and names the variable`(refusal: Refusal) {
    let found = faults { () throws(ConfigurationFaults) in
      _ = try WorkerConfiguration(environment: Samples.worker.merging([refusal.variable: refusal.value]) { $1 })
    }
    #expect(found.count == 1)
    #expect(found.contains { $0.advice.contains(refusal.says) })
    #expect(found.contains { $0.variable.hasPrefix(refusal.variable) || $0.advice.contains(refusal.variable) })
    #expect(found.allSatisfy { !$0.description.contains("hunter2") && !$0.description.contains("\n") })
  }

  @Test(arguments: [
    "my-project", "abcdef", "a23456789012345678901234567890", "project-1a2b3", "example.com:my-project",
    "sub.example.co.uk:api-project-123", "123456789012",
  ])
  func `Whatever Google calls a project is taken`(id: String) throws {
    let environment = Samples.worker.merging(["ORCA_PUSH_FCM_PROJECT_ID": id]) { $1 }
    #expect(try WorkerConfiguration(environment: environment).fcm.projectId == id)
  }

  @Test(arguments: ["com.example.app", "App", "com.Example-2.app-7.voip"])
  func `Whatever Apple calls an app is taken`(id: String) throws {
    let environment = Samples.worker.merging(["ORCA_PUSH_APNS_TOPIC": id]) { $1 }
    #expect(try WorkerConfiguration(environment: environment).apns?.topic == id)
  }

  @Test(arguments: [
    Samples.apnsKey, Samples.apnsKey.replacing("\n", with: "\\n"), Samples.apnsKey.replacing("\n", with: "\r\n"),
    Samples.apnsKey.replacing("\n", with: " "), Base64.encode(Array(Samples.apnsKey.utf8)),
    "\"\(Samples.apnsKey)\"\n",
  ])
  func `The key is taken however it was pasted, and is the same key`(text: String) throws {
    let environment = Samples.worker.merging(["ORCA_PUSH_APNS_KEY": text]) { $1 }
    let apns = try #require(try WorkerConfiguration(environment: environment).apns)
    let plain = try Es256Key(pem: Samples.apnsKey)
    #expect(apns.production.key.publicKeyPem() == plain.publicKeyPem())
  }

  @Test(arguments: [
    // The file's name, its first line, and the variable, in this order of weight.
    ("AuthKey_FROMNAME00.p8", "", "FROMNAME00"), ("key.pem", "", "VARIABLE00"),
    ("key.pem", "key id: FROMLINE00\n", "FROMLINE00"),
    ("AuthKey_FROMNAME00.p8", "Key ID: FROMLINE00\r\n", "FROMLINE00"),
    ("AuthKey_short.p8", "", "VARIABLE00"),
  ])
  func `A key's file tells its id, by a first line or by Apple's name for it, links followed`(
    name: String, line: String, id: String
  ) throws {
    let folder = try ScratchFolder()
    try folder.write(name, line + Samples.apnsKey)
    try folder.link("current", to: name)
    let environment = [
      "ORCA_PUSH_APNS_KEY_FILE": folder.path("current"), "ORCA_PUSH_APPLE_TEAM_ID": "TEAM567890",
      "ORCA_PUSH_APNS_KEY_ID": "VARIABLE00",
    ]
    let worker = try WorkerConfiguration(environment: environment)
    #expect(worker.apns?.production.id == id && worker.apns?.sandbox == worker.apns?.production)
    #expect(worker.apns?.production.key.publicKeyPem() == (try Es256Key(pem: Samples.apnsKey)).publicKeyPem())
    #expect(worker.files == [folder.path("current")])
  }

  @Test func `A key's file that tells its id needs no variable for it; one that does not, does`() throws {
    let folder = try ScratchFolder()
    try folder.write("AuthKey_FROMNAME00.p8", Samples.apnsKey)
    try folder.write("key.p8", Samples.apnsKey)
    var environment = [
      "ORCA_PUSH_APNS_KEY_FILE": folder.path("AuthKey_FROMNAME00.p8"), "ORCA_PUSH_APPLE_TEAM_ID": "TEAM567890",
    ]
    #expect(try WorkerConfiguration(environment: environment).apns?.production.id == "FROMNAME00")
    environment["ORCA_PUSH_APNS_KEY_FILE"] = folder.path("key.p8")
    #expect(
      faults { () throws(ConfigurationFaults) in _ = try WorkerConfiguration(environment: environment) }.map(\.variable)
        == ["ORCA_PUSH_APNS_KEY_ID"])
  }

  @Test(arguments: [
    Refusal(
      "ORCA_PUSH_APNS_KEY_FILE", "/nowhere/a.p8", "names a file that cannot be read (/nowhere/a.p8): No such file"),
    Refusal("ORCA_PUSH_APNS_KEY_FILE", "MIGTAgEAhunter2", "names a file that cannot be read (looked for in /"),
    Refusal("ORCA_PUSH_APNS_KEY_FILE", "/etc/hostname", "names a file that "),
    Refusal("ORCA_PUSH_APNS_KEY_FILE", "-----BEGIN hunter2", "set the file's path"),
    Refusal("ORCA_PUSH_APNS_SANDBOX_KEY_FILE", "hunter2.p8", "names a file that cannot be read"),
  ])
  func `A key's file that cannot be used is refused in one line`(refusal: Refusal) {
    var environment = Samples.worker.merging([refusal.variable: refusal.value]) { $1 }
    if refusal.variable == "ORCA_PUSH_APNS_KEY_FILE" { environment["ORCA_PUSH_APNS_KEY"] = nil }
    let found = faults { () throws(ConfigurationFaults) in _ = try WorkerConfiguration(environment: environment) }
    #expect(found.map(\.variable) == [refusal.variable])
    #expect(found.first?.advice.contains(refusal.says) == true)
    #expect(found.allSatisfy { !$0.description.contains("hunter2") && !$0.description.contains("\n") })
  }

  @Test func `A pipe is read to its end, and one that keeps silent is given up`() async throws {
    let folder = try ScratchFolder()
    let path = folder.path("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    let silent = #expect(throws: StartupFileFault.self) { try StartupFile.read(path, limit: 100, patience: 50) }
    #expect(silent?.reason == "nothing comes out of it")
    // Opening it to write waits for the reader.
    let writer = Process()
    writer.executableURL = URL(filePath: "/bin/sh")
    writer.arguments = ["-c", "exec >\"$0\"; printf one; printf two", path]
    try writer.run()
    #expect(try StartupFile.read(path, limit: 100, patience: 60_000) == Array("onetwo".utf8))
  }

  @Test func `A key and its file are not both set`() throws {
    let file = try ScratchFile(Samples.apnsKey)
    let environment = Samples.worker.merging(["ORCA_PUSH_APNS_KEY_FILE": file.path]) { $1 }
    let found = faults { () throws(ConfigurationFaults) in _ = try WorkerConfiguration(environment: environment) }
    #expect(found.map(\.variable) == ["ORCA_PUSH_APNS_KEY_FILE"])
    #expect(found.first?.advice == "is set beside ORCA_PUSH_APNS_KEY: leave one of them out")
  }

  @Test func `Stamps change with a file's content, with where a link leads, and when it goes`() throws {
    let folder = try ScratchFolder()
    try folder.write("one", "1")
    try folder.write("two", "1")
    try folder.link("current", to: "one")
    let files = [folder.path("current")]
    let first = FileStamps(files)
    #expect(FileStamps(files) == first)
    try folder.write("one", "12")
    let second = FileStamps(files)
    #expect(second != first)
    try folder.link("current", to: "two")
    let third = FileStamps(files)
    #expect(third != second)
    try folder.remove("two")
    #expect(FileStamps(files) != third)
  }

  @Test func `A second key for Apple's sandbox does not stand alone`() {
    let environment = ["ORCA_PUSH_APNS_SANDBOX_KEY": Samples.apnsKey, "ORCA_PUSH_APNS_SANDBOX_KEY_ID": "SANDBOX123"]
    let found = faults { () throws(ConfigurationFaults) in _ = try WorkerConfiguration(environment: environment) }
    #expect(found.map(\.variable) == ["ORCA_PUSH_APNS_SANDBOX_KEY"])
  }

  @Test func `Every fault is told at once, in one line each, and the exit code is 78`() {
    let environment = [
      "ORCA_PUSH_MODE": "off", "ORCA_PUSH_DATABASE_URL": "sqlite:secret-a", "ORCA_PUSH_DATABASE_POOL_MAX": "secret-b",
      "ORCA_PUSH_WORKER_LANES": "secret-c", "ORCA_PUSH_WORKER_BATCH": "secret-d", "ORCA_PUSH_APNS_KEY": "secret-e",
      "ORCA_PUSH_APNS_KEY_ID": "secret-f", "ORCA_PUSH_APNS_TOPIC": "secret_g", "ORCA_PUSH_FCM_URL": "secret-h",
      "ORCA_PUSH_FCM_ALERTS": "secret-i", "ORCA_PUSH_PROVIDER_CA_FILE": "secret-j",
      "ORCA_PUSH_METRICS_PORT": "secret-k",
      "GOOGLE_APPLICATION_CREDENTIALS": "secret-l", "GCE_METADATA_HOST": "secret/m", "ORCA_PUSH_APNS_SANDBOX_URL": "n",
      "ORCA_PUSH_APNS_PRODUCTION_URL": "o", "ORCA_PUSH_FCM_PROJECT_ID": "SECRET",
    ]
    do throws(ConfigurationFaults) {
      _ = try WorkerConfiguration(environment: environment)
      Issue.record("taken")
    } catch {
      let expected = Set(environment.keys).union(["ORCA_PUSH_APPLE_TEAM_ID"])
      #expect(Set(error.faults.map(\.variable)) == expected)
      #expect(error.faults.count == expected.count)
      let lines = error.description.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count == expected.count)
      #expect(lines.allSatisfy { $0.hasPrefix("ORCA_PUSH_") || $0.hasPrefix("GOOGLE_") || $0.hasPrefix("GCE_") })
      #expect(!error.description.lowercased().contains("secret"))
    }
    #expect(ConfigurationFaults.exitCode == 78)
  }

  @Test func `Printing a configuration shows no secret`() throws {
    let environment = Samples.worker.merging(["ORCA_PUSH_DATABASE_URL": "postgres://u:hunter2@db/x"]) { $1 }
    let worker = try WorkerConfiguration(environment: environment)
    var dumped = ""
    dump(worker, to: &dumped)
    for text in ["\(worker)", String(reflecting: worker), dumped] {
      #expect(!text.contains("hunter2") && !text.contains("PRIVATE"))
    }
  }
}
