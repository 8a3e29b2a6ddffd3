/// The `error` member of every reply that is not a success.
package enum ErrorCode: String, Sendable, CaseIterable {
  case invalidRequest = "invalid_request"
  case invalidChallenge = "invalid_challenge"
  case invalidProof = "invalid_proof"
  case invalidToken = "invalid_token"
  case sessionExpired = "session_expired"
  case tooManyDevices = "too_many_devices"
  case notFound = "not_found"
  case methodNotAllowed = "method_not_allowed"
  case requestTooLarge = "request_too_large"
  case rateLimited = "rate_limited"
  case busy = "busy"
  case shuttingDown = "shutting_down"
  case validationOnly = "validation_only"
  case internalFault = "internal"
}
