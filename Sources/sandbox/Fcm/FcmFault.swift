internal import Json

/// A refusal in the shape of Google's APIs.
struct FcmFault: Error, Equatable {
  /// A part of a request that is wrong (`google.rpc.BadRequest`).
  struct Violation: Equatable {
    let field: String
    let description: String
  }

  let code: Int
  /// Google's word for the code.
  let status: String
  let message: String
  /// FCM's own code; refusals from Google's common layers have none.
  var errorCode: String?
  var violations: [Violation] = []

  /// What the request log calls it.
  var reason: String { errorCode ?? status }

  /// The body of the reply.
  var body: [UInt8] {
    var text = JsonText(reserving: 512)
    text.object { text in
      text.object("error") { text in
        text.member("code", code)
        text.member("message", message)
        text.member("status", status)
        if errorCode == nil, violations.isEmpty { return }
        text.array("details") { text in
          if let errorCode {
            text.object {
              $0.member("@type", "type.googleapis.com/google.firebase.fcm.v1.FcmError")
              $0.member("errorCode", errorCode)
            }
          }
          if !violations.isEmpty { writeViolations(&text) }
        }
      }
    }
    return text.bytes
  }

  private func writeViolations(_ text: inout JsonText) {
    text.object { text in
      text.member("@type", "type.googleapis.com/google.rpc.BadRequest")
      text.array("fieldViolations") { text in
        for violation in violations {
          text.object {
            $0.member("field", violation.field)
            $0.member("description", violation.description)
          }
        }
      }
    }
  }
}

extension FcmFault {
  /// A value or a name that the API's description does not know: Google's common layer answers, not FCM.
  static func malformed(_ field: String, _ description: String) -> FcmFault {
    FcmFault(
      code: 400, status: "INVALID_ARGUMENT", message: description,
      violations: [Violation(field: field, description: description)])
  }

  /// A message that FCM itself refuses.
  static func refused(_ field: String, _ description: String) -> FcmFault {
    FcmFault(
      code: 400, status: "INVALID_ARGUMENT", message: description, errorCode: "INVALID_ARGUMENT",
      violations: [Violation(field: field, description: description)])
  }

  /// Seen without any details.
  static let tooBig = FcmFault(code: 400, status: "INVALID_ARGUMENT", message: "Android message is too big")

  static let badToken = FcmFault(
    code: 400, status: "INVALID_ARGUMENT",
    message: "The registration token is not a valid FCM registration token", errorCode: "INVALID_ARGUMENT",
    violations: [Violation(field: "message.token", description: "Invalid registration token")])

  static let unauthenticated = FcmFault(
    code: 401, status: "UNAUTHENTICATED",
    message: "Request had invalid authentication credentials. Expected OAuth 2 access token.")

  /// The same words as for a token that is gone, but without an FCM code.
  static let wrongProject = FcmFault(code: 404, status: "NOT_FOUND", message: "Requested entity was not found.")

  /// What a script means by a code: FCM's own, or Google's. Nil for a word that neither knows.
  init?(reason: String) {
    switch reason {
    case "UNREGISTERED": self.init(404, "NOT_FOUND", "Requested entity was not found.", reason)
    case "SENDER_ID_MISMATCH": self.init(403, "PERMISSION_DENIED", "SenderId mismatch", reason)
    case "QUOTA_EXCEEDED": self.init(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", reason)
    case "UNAVAILABLE": self.init(503, reason, "The service is currently unavailable.", reason)
    case "INTERNAL": self.init(500, reason, "Internal error encountered.", reason)
    case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR":
      self.init(401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service", reason)
    case "UNSPECIFIED_ERROR": self.init(500, "UNKNOWN", "Unknown error.", reason)
    case "INVALID_ARGUMENT": self = .badToken
    case "UNAUTHENTICATED": self = .unauthenticated
    case "NOT_FOUND": self = .wrongProject
    case "PERMISSION_DENIED": self.init(403, reason, "Permission 'cloudmessaging.messages.create' denied.", nil)
    case "RESOURCE_EXHAUSTED": self.init(429, reason, "Quota exceeded.", nil)
    default: return nil
    }
  }

  private init(_ code: Int, _ status: String, _ message: String, _ errorCode: String?) {
    self.init(code: code, status: status, message: message, errorCode: errorCode)
  }
}
