/// What a host shows after it has proven itself, as `authorization` carries it (rulings 2.3).
package enum Bearer {
  /// Random bytes that a token stands for.
  package static let length = 32

  /// The token in a request's `authorization` fields; nil unless there is exactly one and it looks like one of ours.
  package static func token(in fields: [String]) -> String? {
    guard fields.count == 1 else { return nil }
    // By bytes: to split by characters costs a twentieth of what a send costs the api.
    let words = fields[0].utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
    let token = words[1]
    return Base64Url.decode(token)?.count == length ? token : nil
  }
}
