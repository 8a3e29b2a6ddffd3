internal import Http

/// An answer, and what the request log says of it.
struct Reply: Sendable {
  var status: Int
  var headers: HttpHeaders = [:]
  var body: [UInt8] = []
  /// The provider's word for what is wrong.
  var reason: String?
  /// What a developer may want to know, which the provider would not send.
  var detail: String?

  var isAccepted: Bool { status == 200 }

  var response: HttpResponse { HttpResponse(status: status, headers: headers, body: body) }
}

/// How a request ended.
struct Outcome: Sendable {
  /// What was done; `abandoned` when the other end had gone before its answer was due.
  enum Ending: Sendable {
    case answered(Reply)
    case cut(Step.Action)
    case abandoned
  }

  let ending: Ending
  /// Whether the push reached the phone.
  let isDelivered: Bool

  /// The status, 0 where there was no answer.
  var status: Int { if case .answered(let reply) = ending { reply.status } else { 0 } }

  /// The provider's reason or, where there was no answer, what took its place.
  var reason: String {
    switch ending {
    case .answered(let reply): reply.reason ?? ""
    case .cut(let action): action.rawValue
    case .abandoned: "abandoned"
    }
  }
}
