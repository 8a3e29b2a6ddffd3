internal import Http

/// What is to be done with one request in place of the usual.
struct Step: Sendable {
  enum Action: String, CaseIterable, Sendable {
    /// Answer: with `status` and what goes with it where given, as usual otherwise.
    case reply
    /// Take the push in and never answer.
    case hang
    /// Reset the stream (RST_STREAM, INTERNAL_ERROR) without looking at the push.
    case reset
    /// Refuse the stream (RST_STREAM, REFUSED_STREAM): it may be sent again.
    case refuse
    /// GOAWAY that leaves this stream out: it was not looked at. Those before it are answered.
    case goawayBefore = "goaway-before"
    /// Answer, and GOAWAY that counts this stream in.
    case goawayAfter = "goaway-after"
    /// Cut the connection without looking at the push.
    case closeBefore = "close-before"
    /// Take the push in, and cut the connection in place of an answer.
    case closeAfter = "close-after"
    /// Change the stream limit of the connection to `maxConcurrentStreams`, then answer.
    case settings
  }

  var action = Action.reply
  /// Nil answers as usual, unless a reason is given, which has a status of its own.
  var status: Int?
  /// A provider's word for what is wrong, from which the body is made. With `goaway-…`: what the debug bytes say.
  var reason: String?
  /// The body as it stands; goes before `reason`.
  var body: [UInt8]?
  var headers: HttpHeaders = [:]
  /// Before anything is done, in ms.
  var delay = 0
  /// How many requests it serves; nil is all that follow.
  var times: Int? = 1
  var maxConcurrentStreams: Int?
  /// What a 410 of APNs says, in ms since 1970; nil is the time of the answer.
  var timestamp: Int64?
  /// The push reaches the phone all the same, whatever the answer says.
  var isDelivered = false
}
