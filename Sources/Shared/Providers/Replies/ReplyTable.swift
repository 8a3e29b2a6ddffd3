package import Contract
internal import Json

/// What decides about a provider's answer, and what must be known of the request to judge it.
package struct ProviderAnswer: Sendable {
  package var status: Int
  /// Empty where the answer ended with its head, as Apple's may.
  package var body: [UInt8]
  /// The header `apns-id`.
  package var apnsId: String?
  /// The header `retry-after`.
  package var retryAfter: String?
  /// When the phone was last registered, Unix ms by the store's clock.
  package var registeredAt: Int64
  /// The credential was renewed for this very attempt: renewing it again would not mend a thing.
  package var credentialIsFresh: Bool
  /// This machine's clock, Unix ms: what a `Retry-After` that is a date is counted from.
  package var now: Int64

  package init(
    status: Int, body: [UInt8] = [], apnsId: String? = nil, retryAfter: String? = nil, registeredAt: Int64,
    credentialIsFresh: Bool = false, now: Int64
  ) {
    self.status = status
    self.body = body
    self.apnsId = apnsId
    self.retryAfter = retryAfter
    self.registeredAt = registeredAt
    self.credentialIsFresh = credentialIsFresh
    self.now = now
  }

  /// There is a body, and it is no JSON: not the provider's own word, but that of something in between, or half of one.
  var isUnreadable: Bool { !body.isEmpty && (try? JsonReader.read(body)) == nil }

  /// The wait that the provider asks for, in ms.
  var askedWait: Int64 { retryAfter.flatMap { RetryAfter.wait($0, now: now) } ?? 0 }
}

/// What each provider's answer means: the one place that knows (rulings 6.7 to 6.9).
///
/// `apns` and `fcm` are meant to be held beside the providers' own lists of errors. What they do not name falls to its
/// status's class.
package enum ReplyTable {
  /// What a row comes to.
  enum Verdict {
    case dead
    /// Dead, or a fault of ours that looks the same.
    case suspicious
    case again
    case refresh
    case reconnect
    case park
    case failed
  }

  /// The meaning of `answer` to a push of `route`.
  package static func reply(to answer: ProviderAnswer, route: Route) -> Reply {
    route == .fcm ? fcmReply(to: answer) : apnsReply(to: answer)
  }

  /// A reason to tell: the provider's word where it gave one that can be printed, else the status.
  static func reason(_ given: String?, _ status: Int) -> String {
    let word = given.map(bounded) ?? ""
    return word.isEmpty ? "HTTP \(status)" : word
  }

  /// Text from outside, made fit for a log line and the store: printable ASCII, at most 100 characters.
  static func bounded(_ text: String) -> String {
    String(decoding: text.utf8.lazy.filter { (0x20...0x7e).contains($0) }.prefix(100), as: UTF8.self)
  }
}
