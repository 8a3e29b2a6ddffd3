/// Why APNs refuses a push, in Apple's words.
enum ApnsReason: String, CaseIterable, Sendable {
  case badCollapseId = "BadCollapseId"
  case badDeviceToken = "BadDeviceToken"
  case badExpirationDate = "BadExpirationDate"
  case badMessageId = "BadMessageId"
  case badPriority = "BadPriority"
  case badTopic = "BadTopic"
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case duplicateHeaders = "DuplicateHeaders"
  case idleTimeout = "IdleTimeout"
  case invalidPushType = "InvalidPushType"
  case missingDeviceToken = "MissingDeviceToken"
  case missingTopic = "MissingTopic"
  case payloadEmpty = "PayloadEmpty"
  case topicDisallowed = "TopicDisallowed"
  case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
  case expiredProviderToken = "ExpiredProviderToken"
  case forbidden = "Forbidden"
  case invalidProviderToken = "InvalidProviderToken"
  case missingProviderToken = "MissingProviderToken"
  case unrelatedKeyIdInToken = "UnrelatedKeyIdInToken"
  case badPath = "BadPath"
  case methodNotAllowed = "MethodNotAllowed"
  case expiredToken = "ExpiredToken"
  case unregistered = "Unregistered"
  case payloadTooLarge = "PayloadTooLarge"
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case tooManyRequests = "TooManyRequests"
  case internalServerError = "InternalServerError"
  case serviceUnavailable = "ServiceUnavailable"
  case shutdown = "Shutdown"

  /// The status that Apple sends with it.
  var status: Int {
    switch self {
    case .badCollapseId, .badDeviceToken, .badExpirationDate, .badMessageId, .badPriority, .badTopic,
      .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken, .missingTopic,
      .payloadEmpty, .topicDisallowed:
      400
    case .badEnvironmentKeyInToken, .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken,
      .unrelatedKeyIdInToken:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .expiredToken, .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates, .tooManyRequests: 429
    case .internalServerError: 500
    case .serviceUnavailable, .shutdown: 503
    }
  }
}

/// A push that APNs refuses.
struct ApnsFault: Error, Equatable {
  let reason: ApnsReason
  /// One line for the request log, which Apple would not send.
  let detail: String

  init(_ reason: ApnsReason, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }
}
