import Foundation
import Http
import Json
import Keys
import Loop
import Support
import Testing

/// The token endpoint and the metadata server.
struct AccessTokenTests {
  private struct Account {
    let key: Rs256Key
    let email: String
    let keyId: String
    let tokenUri: String

    init(_ sandbox: SandboxProcess) throws {
      let file = URL(fileURLWithPath: sandbox.setting("GOOGLE_APPLICATION_CREDENTIALS"))
      let json = try JsonReader.read(Array(try Data(contentsOf: file)))
      key = try Rs256Key(pem: try #require(json["private_key"]?.string))
      email = try #require(json["client_email"]?.string)
      keyId = try #require(json["private_key_id"]?.string)
      tokenUri = try #require(json["token_uri"]?.string)
    }

    /// An assertion that is right but for what `change` does.
    func assertion(_ change: (inout Claims) -> Void = { _ in }) throws -> String {
      let now = WallClock.milliseconds / 1_000
      var claims = Claims(keyId: keyId, issuer: email, audience: tokenUri, issuedAt: now, end: now + 3_600)
      change(&claims)
      return try WebTokens.make(
        ["alg": .string("RS256"), "typ": .string("JWT"), "kid": .string(claims.keyId)],
        [
          "iss": .string(claims.issuer), "scope": .string(claims.scope), "aud": .string(claims.audience),
          "iat": .integer(claims.issuedAt), "exp": .integer(claims.end),
        ], claims.key ?? key)
    }
  }

  struct Claims {
    var keyId: String
    var issuer: String
    var audience: String
    var issuedAt: Int64
    var end: Int64
    var scope = "https://www.googleapis.com/auth/firebase.messaging"
    var key: Rs256Key?
  }

  @Test func `Only the required service-account key counts from its time on`() async throws {
    let sandbox = try await SandboxProcess.start()
    let key = try Rs256Key.generate()
    let pem = String(decoding: JsonText.string(key.publicKeyPem()), as: UTF8.self)
    let second = try Account(sandbox).assertion {
      $0.keyId = "second"
      $0.key = key
    }
    #expect(try await exchange(sandbox, second).status == 400)
    try await sandbox.script(
      #"{"serviceKeys":[{"keyId":"second","publicKey":\#(pem)}],"requireServiceKey":{"keyId":"second","afterMs":60000}}"#
    )
    #expect(try await exchange(sandbox, second).status == 200)
    #expect(try await exchange(sandbox, try Account(sandbox).assertion()).status == 200)
    try await sandbox.script(#"{"requireServiceKey":{"keyId":"second"}}"#)
    #expect(try await exchange(sandbox, second).status == 200)
    #expect(try await exchange(sandbox, try Account(sandbox).assertion()).json["error"] == .string("invalid_grant"))
    try await sandbox.forgetScripts()
    #expect(try await exchange(sandbox, try Account(sandbox).assertion()).status == 200)
  }

  struct Wrong: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: String
    let change: @Sendable (inout Claims) -> Void

    init(_ name: String, _ error: String = "invalid_grant", _ change: @escaping @Sendable (inout Claims) -> Void) {
      testDescription = name
      self.error = error
      self.change = change
    }
  }

  private static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  private func exchange(
    _ sandbox: SandboxProcess, _ assertion: String, grant: String = grant
  ) async throws -> (status: Int, json: JsonValue) {
    let account = try Account(sandbox)
    let url = try #require(Url(account.tokenUri))
    let form = "grant_type=\(grant.replacing(":", with: "%3A"))&assertion=\(assertion)"
    let reply = try await Http1Client.send(
      "POST", url, headers: ["content-type": "application/x-www-form-urlencoded"], body: Array(form.utf8),
      tls: sandbox.trust, resolver: .literal)
    return (reply.status, try JsonReader.read(reply.body))
  }

  @Test func `A right assertion is exchanged for a token that FCM takes`() async throws {
    let sandbox = try await SharedSandbox.running
    let (status, json) = try await exchange(sandbox, try Account(sandbox).assertion())
    #expect(status == 200 && json["token_type"] == .string("Bearer") && json["expires_in"] == .integer(3_600))
    let client = try await GoogleClient(sandbox)
    await client.use(authorization: "Bearer " + (try #require(json["access_token"]?.string)))
    #expect(try await client.send(#"{"message":{"token":"a"}}"#).status == 200)
    await client.close()
  }

  @Test func `Google's own audience is taken, as its libraries send it everywhere`() async throws {
    let sandbox = try await SharedSandbox.running
    let assertion = try Account(sandbox).assertion { $0.audience = "https://oauth2.googleapis.com/token" }
    #expect(try await exchange(sandbox, assertion).status == 200)
  }

  @Test(arguments: [
    Wrong("unknown key id") { $0.keyId = "other" },
    Wrong("another issuer") { $0.issuer = "other@example.com" },
    Wrong("another audience") { $0.audience = "https://example.com/token" },
    Wrong("longer than an hour") { $0.end = $0.issuedAt + 3_601 },
    Wrong("over") {
      $0.issuedAt -= 7_200
      $0.end -= 7_200
    },
    Wrong("not begun") {
      $0.issuedAt += 3_600
      $0.end += 3_600
    },
    Wrong("another key's signature") { $0.key = try? Rs256Key.generate() },
    Wrong("another scope", "invalid_scope") { $0.scope = "https://www.googleapis.com/auth/drive" },
  ])
  func `A wrong assertion gets nothing`(wrong: Wrong) async throws {
    let sandbox = try await SharedSandbox.running
    let (status, json) = try await exchange(sandbox, try Account(sandbox).assertion(wrong.change))
    #expect(status == 400 && json["error"] == .string(wrong.error))
  }

  @Test func `Another grant is not supported, and what is no web token gets nothing`() async throws {
    let sandbox = try await SharedSandbox.running
    let other = try await exchange(sandbox, try Account(sandbox).assertion(), grant: "password")
    #expect(other.status == 400 && other.json["error"] == .string("unsupported_grant_type"))
    let none = try await exchange(sandbox, "abc")
    #expect(none.status == 400 && none.json["error"] == .string("invalid_grant"))
  }

  @Test func `The metadata server wants its flavour, and shows it`() async throws {
    let sandbox = try await SharedSandbox.running
    let base = "http://\(sandbox.setting("GCE_METADATA_HOST"))/computeMetadata/v1/instance/service-accounts/default/"
    let url = try #require(Url(base + "token?scopes=a,b"))
    let bare = try await Http1Client.send("GET", url, resolver: .literal)
    #expect(bare.status == 403)
    let reply = try await Http1Client.send("GET", url, headers: ["metadata-flavor": "Google"], resolver: .literal)
    #expect(reply.status == 200 && reply.headers["metadata-flavor"] == "Google")
    #expect(try JsonReader.read(reply.body)["expires_in"] == .integer(3_600))
    let other = try await Http1Client.send(
      "GET", try #require(Url(base + "other")), headers: ["metadata-flavor": "Google"], resolver: .literal)
    #expect(other.status == 404)
  }
}
