internal import Http
internal import Json
internal import Loop

/// One request in the log. Kept as text, since a log holds many and few are read.
@LoopActor
final class RequestRecord {
  /// From 1, over all servers, since the last reset.
  let number: Int
  let lane: Lane
  /// Where the push was for; empty while unknown.
  var token: String
  /// Which reset of the log it belongs to.
  let generation: Int
  private let arrived = Monotonic.now
  /// A JSON object without its closing brace.
  private let start: [UInt8]
  private var end: [UInt8] = Array(#","answer":null}"#.utf8)

  init(
    number: Int, generation: Int, lane: Lane, token: String, request: HttpRequest, connection: Int, stream: Int,
    credential: Credential?
  ) {
    self.number = number
    self.generation = generation
    self.lane = lane
    self.token = token
    start = Array(
      Self.text(
        number: number, lane: lane, token: token, request: request, connection: connection, stream: stream,
        credential: credential
      ).dropLast())
  }

  /// Bytes that it takes.
  var size: Int { start.count + end.count + 128 }

  /// The whole as a JSON object.
  var json: [UInt8] { start + end }

  func settle(_ outcome: Outcome) {
    var text = JsonText(reserving: 128)
    text.object { text in
      text.object("answer") { text in
        switch outcome.ending {
        case .answered(let reply):
          text.member("status", reply.status)
          text.member("reason", ifPresent: reply.reason)
          text.member("detail", ifPresent: reply.detail)
          // Elsewhere the answer is an access token.
          let isPush = lane.provider == .apns || lane.provider == .fcm
          if isPush, !reply.body.isEmpty { Self.write(body: reply.body, &text) }
        case .cut, .abandoned:
          text.member("status", 0)
          text.member("reason", outcome.reason)
        }
        text.member("delivered", outcome.isDelivered)
      }
      text.member("durationMs", Monotonic.now.milliseconds(since: arrived))
    }
    end = [UInt8(ascii: ",")] + text.bytes.dropFirst()
  }

  private static func text(
    number: Int, lane: Lane, token: String, request: HttpRequest, connection: Int, stream: Int, credential: Credential?
  ) -> [UInt8] {
    var text = JsonText(reserving: request.body.count + 1_024)
    text.object { text in
      text.member("number", number)
      text.member("time", WallClock.milliseconds)
      text.member("provider", lane.provider.rawValue)
      text.member("environment", ifPresent: lane.environment?.rawValue)
      text.member("connection", connection)
      text.member("stream", stream)
      text.member("method", request.method)
      text.member("path", request.path)
      text.object("headers") { text in
        // A field that came twice is one member, its values in order.
        var names: Set = ["authorization"]
        for (name, _) in request.headers.fields where names.insert(name).inserted {
          text.member(name, request.headers.all(name).joined(separator: ", "))
        }
      }
      credential?.write(&text)
      text.member("token", token)
      // A form holds an assertion, which is a credential.
      if lane.provider != .oauth, !request.body.isEmpty { write(body: request.body, &text) }
    }
    return text.bytes
  }

  /// As JSON where it is JSON, else as text.
  private static func write(body: [UInt8], _ text: inout JsonText) {
    if let json = try? JsonReader.read(body) {
      text.member("body", json)
    } else {
      text.member("bodyText", String(decoding: body, as: UTF8.self))
    }
  }
}
