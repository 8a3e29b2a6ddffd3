internal import Contract
internal import Json

extension ReplyTable {
  /// Apple's table of reasons ("Handling notification responses from APNs"), with what this gateway makes of each.
  static let apns: [(status: Int, reason: String, verdict: Verdict)] = [
    (400, "BadCollapseId", .failed),
    (400, "BadDeviceToken", .suspicious),
    (400, "BadExpirationDate", .failed),
    (400, "BadMessageId", .failed),
    (400, "BadPriority", .failed),
    (400, "BadTopic", .failed),
    (400, "DeviceTokenNotForTopic", .suspicious),
    (400, "DuplicateHeaders", .failed),
    (400, "IdleTimeout", .again),
    (400, "InvalidPushType", .failed),
    (400, "MissingDeviceToken", .failed),
    (400, "MissingTopic", .failed),
    (400, "PayloadEmpty", .failed),
    (400, "TopicDisallowed", .failed),
    // Apple gives it with 410; the contract knows it with 400 too.
    (400, "Unregistered", .dead),
    (403, "BadCertificate", .park),
    (403, "BadCertificateEnvironment", .park),
    // Apple writes the first and sends the second.
    (403, "BadEnvironmentKeyIdInToken", .park),
    (403, "BadEnvironmentKeyInToken", .park),
    (403, "ExpiredProviderToken", .refresh),
    (403, "Forbidden", .park),
    (403, "InvalidProviderToken", .park),
    (403, "MissingProviderToken", .park),
    (403, "UnrelatedKeyIdInToken", .reconnect),
    (404, "BadPath", .failed),
    (405, "MethodNotAllowed", .failed),
    (410, "ExpiredToken", .dead),
    (410, "Unregistered", .dead),
    (413, "PayloadTooLarge", .failed),
    (429, "TooManyProviderTokenUpdates", .reconnect),
    (429, "TooManyRequests", .again),
    (500, "InternalServerError", .again),
    (503, "ServiceUnavailable", .again),
    (503, "Shutdown", .again),
  ]

  /// What a reason that Apple has not written down comes to.
  private static func apnsClass(_ status: Int) -> Verdict {
    switch status {
    case 403: .park
    case 410: .dead
    case 429: .again
    case 400..<500: .failed
    // Beside 5xx, what no version of Apple's service says: something else stands between.
    default: .again
    }
  }

  static func apnsReply(to answer: ProviderAnswer) -> Reply {
    if answer.status == 200 { return .accepted(id: answer.apnsId.map(bounded)) }
    let body = try? JsonReader.read(answer.body)
    let given = body?["reason"]?.string.map(bounded)
    let row = apns.first { $0.status == answer.status && $0.reason == given }
    let reason = reason(given, answer.status)

    switch row?.verdict ?? apnsClass(answer.status) {
    case .dead where answer.status == 410:
      // What Apple has not written down may be another's word, which the breaker holds against a flood of it.
      let isSuspicious = row == nil
      return gone(
        reason, at: body?["timestamp"]?.integer, registeredAt: answer.registeredAt, isSuspicious: isSuspicious)
    case .dead: return .dead(reason: reason, registeredBefore: nil, isSuspicious: false)
    case .suspicious: return .dead(reason: reason, registeredBefore: nil, isSuspicious: true)
    // Apple documents no Retry-After and no least wait; it is honoured if it ever comes.
    case .again: return .again(reason: reason, minimum: answer.askedWait)
    case .refresh:
      return answer.credentialIsFresh ? .park(reason: reason) : .refreshCredential(reason: reason)
    case .reconnect: return .reconnect(reason: reason)
    case .park: return .park(reason: reason)
    case .failed where answer.isUnreadable: return .again(reason: reason, minimum: answer.askedWait)
    case .failed: return .failed(reason: reason)
    }
  }

  /// A 410 tells when Apple last found the token dead (`timestamp`, ms). A phone that was registered at that time or later
  /// may have brought it back to life. Without a timestamp, what was read of the registration must still hold.
  private static func gone(_ reason: String, at timestamp: Int64?, registeredAt: Int64, isSuspicious: Bool) -> Reply {
    guard let timestamp else {
      return .dead(reason: reason, registeredBefore: registeredAt + 1, isSuspicious: isSuspicious)
    }
    guard timestamp > registeredAt else { return .againOnce(reason: reason) }
    return .dead(reason: reason, registeredBefore: timestamp, isSuspicious: isSuspicious)
  }
}
