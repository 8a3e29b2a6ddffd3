internal import Contract

extension ReplyTable {
  /// Waits that Google asks for before a repeat, in ms: in general, and after a quota's end.
  static let fcmPause: Int64 = 10_000
  static let fcmQuotaPause: Int64 = 60_000

  /// Google's table ("ErrorCode" of the FCM v1 API), with what this gateway makes of each. The code counts only where an
  /// `FcmError` detail carries it: the same words elsewhere tell of a wrong project or path.
  static let fcm: [(code: String, verdict: Verdict)] = [
    ("UNREGISTERED", .dead),
    // Dead when the token is what it names (`FcmError.namesToken`).
    ("INVALID_ARGUMENT", .failed),
    ("SENDER_ID_MISMATCH", .suspicious),
    ("THIRD_PARTY_AUTH_ERROR", .park),
    ("APNS_AUTH_ERROR", .park),
    ("QUOTA_EXCEEDED", .again),
    ("UNAVAILABLE", .again),
    ("INTERNAL", .again),
    ("UNSPECIFIED_ERROR", .again),
  ]

  /// What a status comes to without a code, or with one that Google has not written down.
  private static func fcmClass(_ status: Int) -> Verdict {
    switch status {
    // The access token is stale; nothing else answers so.
    case 401: .refresh
    // Missing permission or a disabled API; a wrong project or path.
    case 403, 404: .park
    case 429: .again
    case 400..<500: .failed
    default: .again
    }
  }

  static func fcmReply(to answer: ProviderAnswer) -> Reply {
    if answer.status == 200 { return .accepted(id: FcmAcceptance.id(answer.body).map(bounded)) }
    let error = FcmError(answer.body)
    let reason = reason(error.code ?? error.status, answer.status)

    switch fcmVerdict(answer.status, error) {
    case .dead: return .dead(reason: reason, registeredBefore: nil, isSuspicious: false)
    case .suspicious: return .dead(reason: reason, registeredBefore: nil, isSuspicious: true)
    case .again:
      let isQuota = answer.status == 429 || error.code == "QUOTA_EXCEEDED"
      let asked = max(answer.askedWait, error.retryDelay ?? 0)
      // Google has been seen to deliver what it answered with a fault of its own.
      return .again(
        reason: reason, minimum: max(asked, isQuota ? fcmQuotaPause : fcmPause), isUnknown: answer.status >= 500)
    case .refresh:
      return answer.credentialIsFresh ? .park(reason: reason) : .refreshCredential(reason: reason)
    case .reconnect: return .reconnect(reason: reason)
    case .park: return .park(reason: reason)
    case .failed where answer.isUnreadable:
      return .again(reason: reason, minimum: max(answer.askedWait, fcmPause))
    case .failed: return .failed(reason: reason)
    }
  }

  private static func fcmVerdict(_ status: Int, _ error: FcmError) -> Verdict {
    // Trouble on Google's side or a quota is never the token's fault, whatever a body says.
    if status == 429 || !(400..<500).contains(status) { return .again }
    if status == 400, error.code ?? error.status == "INVALID_ARGUMENT", error.namesToken { return .dead }
    return fcm.first { $0.code == error.code }?.verdict ?? fcmClass(status)
  }
}
