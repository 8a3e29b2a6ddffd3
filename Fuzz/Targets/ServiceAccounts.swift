import Contract
import Json
import Keys

@testable import Operations

/// A service account's file: what is taken names a private origin and a path, and no complaint holds a part of the key.
enum ServiceAccounts: Target {
  private static let pem = (try? Rs256Key.generate())?.privateKeyPem() ?? ""
  private static let file = file(key: pem)
  private static let keyless = file(key: "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n")

  private static func file(key: String) -> [UInt8] {
    JsonText.render(
      .object([
        "type": .string("service_account"), "client_email": .string("push@example.iam.gserviceaccount.com"),
        "private_key_id": .string("0123abcd"), "private_key": .string(key),
        "token_uri": .string("https://oauth2.googleapis.com/token"),
      ]))
  }

  static func run(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let text: [UInt8]
    switch input.byte() & 3 {
    case 0: text = Array(input.rest)
    case 1: text = file.changed(by: &input)
    // The rest costs no signature, which each file with a key that is in order is tried with.
    case 2: text = keyless.changed(by: &input)
    default:
      if let (origin, path) = try? ServiceAccount.split(Array(input.rest).text) { check(origin, path) }
      return
    }
    do throws(ServiceAccount.Fault) {
      let account = try ServiceAccount(json: text)
      check(account.tokenOrigin, account.tokenPath)
      require(!account.clientEmail.isEmpty && !account.privateKeyId.isEmpty, "it names nobody")
    } catch {
      let advice = error.advice
      require(!advice.isEmpty && !advice.contains("\n"), advice.debugDescription)
      for line in pem.split(separator: "\n") where line.count == 64 {
        require(!advice.contains(line), "the key is told")
      }
    }
  }

  private static func check(_ origin: Origin, _ path: String) {
    require(origin.isPrivate, "\(origin) is not private")
    require(path.utf8.first == UInt8(ascii: "/"), "the path is \(path)")
    require(!path.utf8.contains { $0 <= 0x20 || $0 >= 0x7f }, "the path is \(path)")
  }
}
