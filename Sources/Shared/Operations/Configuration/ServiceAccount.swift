package import Contract
internal import Json
package import Keys

/// A Google service-account key, as its JSON file gives it.
package struct ServiceAccount: Sendable {
  package let clientEmail: String
  /// The `kid` of what it signs.
  package let privateKeyId: String
  /// Has signed once already.
  package let privateKey: Rs256Key
  /// Where signed assertions are exchanged for access tokens, and their `aud`: the file's own text.
  package let tokenUri: String
  /// The server of `tokenUri`.
  package let tokenOrigin: Origin
  /// What follows the origin in `tokenUri`, beginning with a slash.
  package let tokenPath: String

  /// The same account with the same key.
  package func isSame(as other: ServiceAccount) -> Bool {
    clientEmail == other.clientEmail && privateKeyId == other.privateKeyId && tokenUri == other.tokenUri
      && privateKey.publicKeyPem() == other.privateKey.publicKeyPem()
  }

  private static let variable = "GOOGLE_APPLICATION_CREDENTIALS"

  /// Reads the file that GOOGLE_APPLICATION_CREDENTIALS names, if it is set.
  init?(_ settings: inout Settings) {
    guard let path = settings.text(Self.variable) else { return nil }
    do throws(Fault) {
      self = try Self(path: path)
    } catch {
      settings.refuse(Self.variable, error.advice)
      return nil
    }
  }

  /// Why a file is none, as advice that follows the variable's name. Holds nothing of the file's own text.
  struct Fault: Error {
    let advice: String
    init(_ advice: String) { self.advice = advice }
  }

  private init(path: String) throws(Fault) {
    if path.hasPrefix("{") { throw Fault("holds a file's text: set the file's path") }
    let bytes: [UInt8]
    do throws(StartupFileFault) {
      bytes = try StartupFile.read(path, limit: 1 << 16)
    } catch {
      throw Fault("names a file that cannot be read\(AbsolutePath.place(of: path)): \(error.reason)")
    }
    try self.init(json: bytes)
  }

  /// Reads the file's own bytes.
  init(json bytes: [UInt8]) throws(Fault) {
    guard let json = try? JsonReader.read(bytes), json.object != nil else {
      throw Fault("names a file that is not a JSON object")
    }
    try Self.check(type: json["type"]?.string, json)

    clientEmail = try Self.member("client_email", json)
    privateKeyId = try Self.member("private_key_id", json)
    let pem = try Self.member("private_key", json)
    do throws(KeyFault) {
      privateKey = try Rs256Key(pem: pem)
    } catch {
      throw Fault("names a file whose private_key \(error)")
    }
    tokenUri = try Self.member("token_uri", json)
    (tokenOrigin, tokenPath) = try Self.split(tokenUri)
  }

  private static func check(type: String?, _ json: JsonValue) throws(Fault) {
    switch type {
    case "service_account": return
    case "external_account":
      throw Fault(
        "names an external_account file, which is not supported here: use a service-account key, or none on Google Cloud"
      )
    case "authorized_user":
      throw Fault("names a person's own login (authorized_user): use a service-account key")
    case nil where json["project_info"] != nil:
      throw Fault("names the app's google-services.json: use a service-account key")
    default:
      throw Fault("names a file whose type is not service_account")
    }
  }

  private static func member(_ name: String, _ json: JsonValue) throws(Fault) -> String {
    guard let text = json[name]?.string, (1...16384).contains(text.utf8.count) else {
      throw Fault("names a file without a usable \(name)")
    }
    return text
  }

  /// The origin of a `token_uri`, and what follows it.
  static func split(_ uri: String) throws(Fault) -> (Origin, String) {
    let start = uri.utf8.firstIndex(of: UInt8(ascii: ":")).map { uri.utf8[$0...].dropFirst(3) } ?? uri.utf8[...]
    let slash = start.firstIndex(of: UInt8(ascii: "/")) ?? uri.utf8.endIndex
    let path = uri[slash...]
    guard let origin = try? Origin(String(uri[..<slash])), origin.isPrivate,
      path.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") })
    else { throw Fault("names a file whose token_uri is not an https URL (http is for loopback alone)") }
    return (origin, path.isEmpty ? "/" : String(path))
  }
}
