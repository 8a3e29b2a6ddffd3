import Contract
import Testing

/// What `authorization` may look like.
@Suite struct BearerTests {
  private static let token = String(repeating: "A", count: 43)

  @Test(arguments: [
    "Bearer \(token)", "bearer \(token)", "BEARER \(token)", "Bearer  \(token)", " Bearer \(token) ",
  ])
  func `A token of 32 bytes is taken from the one field`(field: String) {
    #expect(Bearer.token(in: [field]) == Self.token)
  }

  @Test(arguments: [
    [], [""], ["Bearer"], ["Bearer "], [token], ["Basic \(token)"], ["Bearer \(token) x"], ["Bearer\t\(token)"],
    ["Bearer \(token)A"], ["Bearer \(token.dropLast())"], ["Bearer \(token.dropLast())B"], ["Bearer \(token)="],
    ["Bearer \(token.dropLast())+"], ["Bearer \(token)\u{301}"], ["Bearer \u{301}\(token)"], ["Bearer: \(token)"],
    ["Bearer \(token), Bearer \(token)"], ["Bearer \(token)", "Bearer \(token)"], ["Bearer \(token)", ""],
  ])
  func `Anything else is nobody's`(fields: [String]) {
    #expect(Bearer.token(in: fields) == nil)
  }
}
