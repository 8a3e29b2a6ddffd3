import Contract
import Providers

/// Apple's and Google's answers: whatever status, fields and body say, the verdict keeps to the rules on what may mark a
/// phone dead, and its reason is fit for a log line.
enum Answers: Target {
  private static let statuses = [200, 400, 401, 403, 404, 405, 410, 413, 429, 500, 503]
  private static let now: Int64 = 1_796_032_800_000
  private static let registeredAt = now - 1_000

  static func run(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let flags = input.byte()
    let pick = input.number()
    let answer = ProviderAnswer(
      status: flags & 1 == 0 ? statuses[pick % statuses.count] : pick, body: [],
      apnsId: flags & 2 == 0 ? nil : input.text(),
      retryAfter: flags & 4 == 0 ? nil : input.text(), registeredAt: registeredAt,
      credentialIsFresh: flags & 8 != 0, now: now)
    for route in [Route.apnsProduction, .fcm] {
      var answer = answer
      answer.body = Array(input.rest)
      check(ReplyTable.reply(to: answer, route: route), answer, route)
    }
  }

  private static func check(_ reply: Reply, _ answer: ProviderAnswer, _ route: Route) {
    let said = "\(reply) to \(answer.status) of \(route)"
    if let reason = reply.reason {
      require((1...100).contains(reason.utf8.count) && isPrintable(reason), said)
    }
    require(!reply.label.isEmpty, said)
    switch reply {
    case .accepted(let id):
      require(answer.status == 200, said)
      require(id.map { $0.utf8.count <= 100 && isPrintable($0) } ?? true, said)
    case .dead(_, let before, _):
      require((400..<500).contains(answer.status) && answer.status != 429, said)
      require(before.map { $0 > registeredAt } ?? true, said)
    case .again(_, let minimum, _):
      require((0...86_400_000).contains(minimum), said)
      require(route != .fcm || minimum >= 10_000, said)
    case .againOnce: require(route != .fcm && answer.status == 410, said)
    case .untouched, .crowdedOut: require(false, said)
    case .refreshCredential: require(!answer.credentialIsFresh, said)
    case .reconnect, .park, .failed: require((300..<500).contains(answer.status) || route == .fcm, said)
    }
    if (500..<600).contains(answer.status) || answer.status == 429 && route == .fcm {
      guard case .again = reply else { return require(false, said) }
    }
  }

  private static func isPrintable(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7e).contains($0) } }
}
