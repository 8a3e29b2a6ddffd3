import Testing

@testable import Http

/// What our parser takes, others must take as well, and understand alike. It may refuse more: bare LF, folded lines, chunk
/// extensions, repeated equal lengths, `Host` with other than a host, targets that are not of origin form, versions
/// but 1.0 and 1.1.
///
/// Deliberate differences: one empty line before a request is let pass (h11 refuses it), so the others see the request
/// without it. Any token is a method (llhttp knows a list), and a tab may stand beside a value wherever a blank may (llhttp
/// refuses it beside a coding), so llhttp is not asked about these.
@Suite("Request parser beside h11 and llhttp")
struct ServerDifferentialTests {
  private struct Taken {
    var bytes: [UInt8]
    var expected: String
    var isTooLarge: Bool
    var method: String
  }

  /// The requests that our parser takes from `bytes`, each with the very bytes that it consists of.
  private func taken(_ bytes: [UInt8]) -> [Taken] {
    var parser = RequestParser()
    var taken: [Taken] = []
    var at = 0
    while at < bytes.count {
      let start = at
      guard parser.read(bytes.span, at: &at) == .complete else { break }
      let request = parser.request
      let head = "\(request.method) \(request.path)\(request.query.map { "?" + $0 } ?? "")"
      let own = Array(bytes[start..<at])
      taken.append(
        Taken(
          bytes: own.starts(with: [13, 10]) ? Array(own.dropFirst(2)) : own,
          expected: request.bodyTooLarge ? "incomplete \(head)" : "\(head) \(hex(request.body))",
          isTooLarge: request.bodyTooLarge, method: request.method))
      guard parser.keepsAlive else { break }
      parser.next()
    }
    return taken
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test(
    "What is taken here is taken there, with one meaning", .enabled(if: ServerOracle.isInstalled), arguments: [11, 12])
  func agreement(seed: UInt64) throws {
    var mutations = ServerRequestMutations(seed: seed)
    var all: [Taken] = []
    for _ in 0..<6_000 { all += taken(mutations.next()) }
    #expect(all.count > 1_500)
    let verdicts = try ServerOracle.verdicts(all.map(\.bytes))
    try #require(verdicts.count == all.count)
    for (ours, theirs) in zip(all, verdicts) {
      let shown = String(decoding: ours.bytes, as: UTF8.self).debugDescription
      #expect(theirs.h11 == ours.expected, "h11: \(shown)")
      if ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"].contains(ours.method), !ours.bytes.contains(9) {
        #expect(theirs.httptools == ours.expected, "httptools: \(shown)")
      }
    }
  }
}
