internal import Json
internal import Keys
internal import Operations

/// The keys that the sandbox gives out, kept from one start to the next.
struct Identities: Sendable {
  static let apnsKeyId = "SANDBOXKEY"
  static let teamId = "ORCASANDBX"
  static let clientEmail = "worker@orca-sandbox.iam.example"
  static let serviceKeyId = "0123456789abcdef0123456789abcdef01234567"
  /// What Google's own libraries write into `aud`, wherever they send to.
  static let googleAudience = "https://oauth2.googleapis.com/token"

  let server: CertificateAuthority.Issued
  let apnsKey: Es256Key
  let serviceKey: Rs256Key

  /// Takes what is in the folder and makes what is missing or of no use.
  init(_ directory: Directory, names: [String]) throws {
    let authority: CertificateAuthority
    if let certificate = directory.read("ca.pem"), let key = directory.read("ca-key.pem"),
      let kept = try? CertificateAuthority(certificatePem: certificate, privateKeyPem: key)
    {
      authority = kept
    } else {
      authority = try CertificateAuthority.make(name: "Push gateway sandbox (development only)")
      try directory.write("ca-key.pem", authority.privateKeyPem)
      try directory.write("ca.pem", authority.certificatePem)
    }
    server = try authority.issue(names: names)

    if let text = directory.read(Self.apnsKeyFile), let key = try? Es256Key(pem: text) {
      apnsKey = key
    } else {
      apnsKey = try Es256Key.generate()
      try directory.write(Self.apnsKeyFile, apnsKey.privateKeyPem())
    }
    let account = directory.read(Self.accountFile).flatMap { try? JsonReader.read(Array($0.utf8)) }
    if let text = account?["private_key"]?.string, let key = try? Rs256Key(pem: text) {
      serviceKey = key
    } else {
      serviceKey = try Rs256Key.generate()
    }
  }

  static let apnsKeyFile = "AuthKey_\(apnsKeyId).p8"
  static let accountFile = "service-account.json"

  /// The file that Google's console would give out.
  func serviceAccount(projectId: String, tokenUri: String) -> String {
    let json: JsonObject = [
      "type": .string("service_account"), "project_id": .string(projectId),
      "private_key_id": .string(Self.serviceKeyId), "private_key": .string(serviceKey.privateKeyPem()),
      "client_email": .string(Self.clientEmail), "client_id": .string("100000000000000000000"),
      "token_uri": .string(tokenUri),
      "universe_domain": .string("googleapis.com"),
    ]
    return String(decoding: JsonText.render(.object(json)), as: UTF8.self) + "\n"
  }
}
