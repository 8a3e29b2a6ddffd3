import Contract
import FoundationEssentials
import Json
import Testing

@testable import Providers

/// A reply of `provider-outcomes.json` with the outcome that was worked out for it by other means.
struct OutcomeCase: Sendable, CustomTestStringConvertible {
  let provider: String
  let answer: ProviderAnswer
  let want: String

  init?(_ value: JsonValue) {
    guard let provider = value["provider"]?.string, let status = value["status"]?.integer,
      let want = value["want"]?.string
    else { return nil }
    self.provider = provider
    self.want = want
    var body: [UInt8] = []
    if let raw = value["rawBody"]?.string { body = Array(raw.utf8) }
    if let object = value["body"] {
      let text = String(decoding: JsonText.render(object), as: UTF8.self)
        .replacing("\"before-registration\"", with: String(lastRegistered - 1))
        .replacing("\"after-registration\"", with: String(lastRegistered + 1))
      body = Array(text.utf8)
    }
    answer = ProviderAnswer(
      status: Int(status), body: body, retryAfter: value["headers"]?["retry-after"]?.string,
      registeredAt: lastRegistered,
      now: lastRegistered + 5_000)
  }

  var testDescription: String {
    "\(provider) \(answer.status) \(String(decoding: answer.body, as: UTF8.self)): \(want)"
  }

  static let all: [OutcomeCase] = ((try? cases("provider-outcomes.json")) ?? []).compactMap(OutcomeCase.init)
}

@Suite("Provider outcomes")
struct ProviderOutcomeTests {
  @Test("Every case of the file is read")
  func complete() throws {
    #expect(try OutcomeCase.all.count == cases("provider-outcomes.json").count)
  }

  @Test("A reply has the outcome that was worked out for it", arguments: OutcomeCase.all)
  func outcome(_ one: OutcomeCase) throws {
    let route: Route = one.provider == "fcm" ? .fcm : .apnsProduction
    let reply = ReplyTable.reply(to: one.answer, route: route)
    switch (one.want, reply) {
    case ("sent", .accepted), ("dead", .dead), ("failed", .failed), ("retry-once", .againOnce), ("park", .park),
      ("refresh", .refreshCredential), ("reconnect", .reconnect), ("retry", .again):
      break
    case (let want, .again(_, let minimum, _)) where want.hasPrefix("retry>="):
      let least = try #require(Int64(want.dropFirst("retry>=".count)))
      #expect(minimum >= least * 1_000)
    default: Issue.record("\(reply) in place of \(one.want)")
    }
  }

  @Test("What survives a fresh credential parks", arguments: OutcomeCase.all.filter { $0.want == "refresh" })
  func fresh(_ one: OutcomeCase) throws {
    var answer = one.answer
    answer.credentialIsFresh = true
    let reply = ReplyTable.reply(to: answer, route: one.provider == "fcm" ? .fcm : .apnsSandbox)
    let isParked = if case .park = reply { true } else { false }
    #expect(isParked, "\(reply)")
  }
}
