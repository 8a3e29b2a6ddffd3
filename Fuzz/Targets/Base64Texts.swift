import Contract

/// Base64 of both alphabets: one text for each run of bytes, one run of bytes for each text.
enum Base64Texts: Target {
  static func run(_ bytes: [UInt8]) {
    require(Base64.decode(Base64.encode(bytes)) == bytes, "it decodes otherwise")
    require(Base64Url.decode(Base64Url.encode(bytes)) == bytes, "it decodes otherwise")
    let text = bytes.text
    if let decoded = Base64.decode(text) { require(Base64.encode(decoded) == text, "another text for \(decoded)") }
    if let decoded = Base64Url.decode(text) {
      require(Base64Url.encode(decoded) == text, "another text for \(decoded)")
    }
  }
}
