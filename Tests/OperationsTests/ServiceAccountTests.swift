import Contract
import Json
import Keys
import Testing

@testable import Operations

@Suite struct ServiceAccountTests {
  static let rsaKey = (try? Rs256Key.generate().privateKeyPem()) ?? ""

  private static let good = [
    "type": "service_account", "project_id": "p", "private_key_id": "0123abcd", "private_key": rsaKey,
    "client_email": "push@p.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
  ]

  private func read(_ text: String) throws -> (account: ServiceAccount?, faults: [ConfigurationFault]) {
    let file = try ScratchFile(text)
    var settings = Settings(["GOOGLE_APPLICATION_CREDENTIALS": file.path])
    let account = ServiceAccount(&settings)
    return (account, faults { () throws(ConfigurationFaults) in try settings.finish() })
  }

  private static func json(_ changes: [String: String?] = [:]) -> String {
    let members = good.merging(changes.compactMapValues { $0 }) { $1 }
      .filter { changes[$0.key].map { $0 != nil } ?? true }
    return "{"
      + members.map { "\"\($0.key)\":" + String(decoding: JsonText.string($0.value), as: UTF8.self) }.joined(
        separator: ",") + "}"
  }

  @Test func `A service-account key is read whole`() throws {
    let (account, faults) = try read(Self.json())
    #expect(faults.isEmpty)
    let read = try #require(account)
    #expect(read.clientEmail == "push@p.iam.gserviceaccount.com" && read.privateKeyId == "0123abcd")
    #expect(read.tokenUri == "https://oauth2.googleapis.com/token")
    #expect(read.tokenOrigin.text == "https://oauth2.googleapis.com" && read.tokenPath == "/token")
    var dumped = ""
    dump(read, to: &dumped)
    #expect(!"\(read)".contains("PRIVATE") && !dumped.contains("PRIVATE"))
    #expect(read.privateKey.privateKeyPem() == Self.rsaKey)
  }

  @Test(arguments: [
    ("http://127.0.0.1:8081/token?x=1", "http://127.0.0.1:8081", "/token?x=1"),
    ("https://[::1]", "https://[::1]", "/"),
    ("HTTPS://A.example:443/t", "https://a.example", "/t"),
  ])
  func `The file's own token address is used`(uri: String, origin: String, path: String) throws {
    let account = try #require(try read(Self.json(["token_uri": uri])).account)
    #expect(account.tokenOrigin.text == origin && account.tokenPath == path && account.tokenUri == uri)
  }

  @Test(arguments: [
    (json(["type": "external_account"]), "not supported here"),
    (json(["type": "authorized_user"]), "person's own login"),
    (json(["type": nil]), "type is not service_account"),
    (#"{"project_info":{"project_id":"x"}}"#, "google-services.json"),
    (json(["client_email": nil]), "client_email"),
    (json(["private_key": ""]), "private_key"),
    (json(["private_key": "-----BEGIN hunter2"]), "private_key seems to be PEM"),
    (json(["private_key": Samples.apnsKey]), "an RSA key of 2048 bits or more is due"),
    (json(["private_key_id": nil]), "private_key_id"),
    (json(["token_uri": nil]), "token_uri"),
    (json(["token_uri": "http://oauth2.example.org/token"]), "https URL"),
    (json(["token_uri": "oauth2.example.org"]), "https URL"),
    (json(["token_uri": "https://a/b c"]), "https URL"),
    ("not json", "not a JSON object"), ("[]", "not a JSON object"), ("", "not a JSON object"),
    (#"{"type":"service_account","type":"service_account"}"#, "not a JSON object"),
    (String(repeating: " ", count: 70_000), "more than 65536 bytes"),
  ])
  func `What is no service-account key is named`(text: String, says: String) throws {
    let (account, faults) = try read(text)
    #expect(account == nil)
    #expect(faults.count == 1)
    #expect(faults.first?.variable == "GOOGLE_APPLICATION_CREDENTIALS")
    #expect(faults.first?.advice.contains(says) == true)
    #expect(faults.allSatisfy { !$0.description.contains("hunter2") && !$0.description.contains("\n") })
  }
}
