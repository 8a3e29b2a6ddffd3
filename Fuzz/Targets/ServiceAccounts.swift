import Contract
import Json
import Keys

@testable import Operations

/// A service account's file: what is taken names a private origin and a path, and no complaint holds a part of the key.
enum ServiceAccounts: Target {
  private static let pem = (try? Rs256Key.generate())?.privateKeyPem() ?? ""
  private static let file = JsonText.render(
    .object([
      "type": .string("service_account"), "client_email": .string("push@example.iam.gserviceaccount.com"),
      "private_key_id": .string("0123abcd"), "private_key": .string(pem),
      "token_uri": .string("https://oauth2.googleapis.com/token"),
    ]))

  static func run(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let text = input.byte() & 1 == 0 ? Array(input.rest) : file.changed(by: &input)
    do throws(ServiceAccount.Fault) {
      let account = try ServiceAccount(json: text)
      require(account.tokenOrigin.isPrivate, "\(account.tokenOrigin) is not private")
      require(account.tokenPath.utf8.first == UInt8(ascii: "/"), "the path is \(account.tokenPath)")
      require(!account.tokenPath.utf8.contains { $0 <= 0x20 || $0 >= 0x7f }, "the path is \(account.tokenPath)")
      require(!account.clientEmail.isEmpty && !account.privateKeyId.isEmpty, "it names nobody")
    } catch {
      let advice = error.advice
      require(!advice.isEmpty && !advice.contains("\n"), advice.debugDescription)
      for line in pem.split(separator: "\n") where line.count == 64 {
        require(!advice.contains(line), "the key is told")
      }
    }
  }
}
