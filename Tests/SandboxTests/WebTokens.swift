import Contract
import Json
import Keys

/// Web tokens that need not be right.
enum WebTokens {
  static func make(_ header: JsonObject, _ claims: JsonObject, _ key: Es256Key) throws -> String {
    let input = self.input(header, claims)
    return "\(input).\(Base64Url.encode(try key.sign(Array(input.utf8))))"
  }

  static func make(_ header: JsonObject, _ claims: JsonObject, _ key: Rs256Key) throws -> String {
    let input = self.input(header, claims)
    return "\(input).\(Base64Url.encode(try key.sign(Array(input.utf8))))"
  }

  static func input(_ header: JsonObject, _ claims: JsonObject) -> String {
    let parts = [header, claims].map { Base64Url.encode(JsonText.render(.object($0))) }
    return parts.joined(separator: ".")
  }
}
