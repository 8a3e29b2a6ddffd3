import Keys

/// Web tokens: what is signed is the text's own beginning, and a token that was read is small.
enum WebTokens: Target {
  static func run(_ bytes: [UInt8]) {
    guard let token = WebToken.parse(bytes.text) else { return }
    require(bytes.count <= WebToken.limit, "it is too long")
    require(bytes.starts(with: token.signingInput + [UInt8(ascii: ".")]), "something else is signed")
    if let verifier { require(!token.isSigned(by: verifier), "nobody signed it") }
  }

  private static let verifier = (try? Es256Key.generate()).map { Es256Verifier($0) }
}
