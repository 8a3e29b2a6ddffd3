import Contract

/// `authorization`: a token is taken from one field alone, it stands for 32 bytes in one way, and it is the field's own text.
enum Bearers: Target {
  static func run(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let flags = input.byte()
    var fields: [String] = []
    if flags & 1 == 0 {
      // A token in order, within what the input says.
      let token = Base64Url.encode(Array(input.bytes(Bearer.length)) + [UInt8](repeating: 0, count: Bearer.length))
      let text = String(token.utf8.prefix(Int(flags >> 2) % 3 + 42)) ?? ""
      fields.append("Bearer \(text)\(input.text())")
    }
    while !input.rest.isEmpty { fields.append(input.text()) }
    guard let token = Bearer.token(in: fields) else {
      // What hosts send is taken.
      guard fields.count == 1, let field = fields.first, field.utf8.starts(with: "Bearer ".utf8) else { return }
      let token = String(decoding: field.utf8.dropFirst(7), as: UTF8.self)
      return require(Base64Url.decode(token)?.count != Bearer.length, "not taken: \(field.debugDescription)")
    }
    require(fields.count == 1, "one of \(fields.count)")
    require(Base64Url.decode(token)?.count == Bearer.length && token.utf8.count == 43, "the token \(token)")
    require(token.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "the token \(token.debugDescription)")
    require(fields.first?.contains(token) == true, "it is not in the field")
  }
}
