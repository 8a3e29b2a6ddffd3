internal import Http
internal import Json
internal import Keys
internal import Loop

/// Apple's push server of one environment.
@LoopActor
final class ApnsServer {
  private let environment: ApnsEnvironment
  private let world: World
  private var server: PushServer?

  init(_ environment: ApnsEnvironment, _ world: World) {
    self.environment = environment
    self.world = world
    server = PushServer(
      Lane(provider: .apns, environment: environment), world,
      judge: { [unowned self] in self.judge($0, $1, $2) }, scripted: { [unowned self] in self.scripted($0) })
  }

  func answer(_ request: HttpRequest, _ exchange: HttpExchange) async -> HttpResponse? {
    let token = (try? ApnsPath.token(method: request.method, path: request.path)) ?? ""
    let response = await server?.answer(request, exchange, token: token)
    guard var response else { return nil }
    // A sender's id is told back whatever became of the push.
    if response.headers["apns-id"] == nil {
      response.headers.add("apns-id", request.headers["apns-id"] ?? Uuid.random())
    }
    if environment == .sandbox { response.headers.add("apns-unique-id", Uuid.random()) }
    return response
  }

  private func judge(_ request: HttpRequest, _ connection: Connection, _ record: RequestRecord) -> Judgement {
    do throws(ApnsFault) {
      let push = try check(request, connection)
      return Judgement(reply: Reply(status: 200)) { [tray = world.tray, environment] in
        tray.receive(push, environment)
      }
    } catch {
      return Judgement(reply: refusal(error.reason.rawValue, status: error.reason.status, detail: error.detail))
    }
  }

  private func check(_ request: HttpRequest, _ connection: Connection) throws(ApnsFault) -> ApnsPush {
    let token = try ApnsPath.token(method: request.method, path: request.path)
    let now = WallClock.milliseconds + world.book.settings(environment).clockOffset * 1_000
    let credential = try world.providerTokens.check(request.headers, environment: environment, now: now)
    try checkUpdate(credential, connection)
    let headers = try ApnsHeaders(request.headers, topics: world.topics)
    if request.bodyTooLarge { throw ApnsFault(.payloadTooLarge, "the body is far too large") }
    let payload = try ApnsPayload(request.body, type: headers.pushType)
    let device = world.book.devices[token]
    if let own = device?.environment, own != environment {
      throw ApnsFault(.badDeviceToken, "the token is of \(own.rawValue), this is \(environment.rawValue)")
    }
    if let topic = device?.topic, topic != headers.topic {
      throw ApnsFault(.deviceTokenNotForTopic, "the token is of another topic")
    }
    return ApnsPush(token: token, headers: headers, payload: payload)
  }

  /// Apple's 20 minutes are counted by connection, from the first use of the token before.
  private func checkUpdate(_ credential: ProviderToken, _ connection: Connection) throws(ApnsFault) {
    let now = Monotonic.now
    if let (text, since) = connection.providerToken {
      if text.utf8.elementsEqual(credential.text.utf8) { return }
      let age = now.milliseconds(since: since)
      guard age >= world.book.settings(environment).tokenUpdateInterval else {
        throw ApnsFault(.tooManyProviderTokenUpdates, "the token before was first used \(age) ms ago")
      }
    }
    connection.providerToken = (credential.text, now)
  }

  private func scripted(_ step: Step) -> Reply {
    let status = step.status ?? step.reason.flatMap { ApnsReason(rawValue: $0)?.status } ?? 200
    var reply =
      status == 200 || step.body != nil
      ? Reply(status: status, body: step.body ?? [], reason: step.reason)
      : refusal(step.reason, status: status, timestamp: step.timestamp)
    for (name, value) in step.headers.fields { reply.headers.add(name, value) }
    return reply
  }

  /// The body that Apple sends: a reason, and with 410 since when the token has been of no use.
  private func refusal(_ reason: String?, status: Int, timestamp: Int64? = nil, detail: String? = nil) -> Reply {
    guard let reason else { return Reply(status: status, detail: detail) }
    var text = JsonText(reserving: 64)
    text.object { text in
      text.member("reason", reason)
      if status == 410 { text.member("timestamp", timestamp ?? WallClock.milliseconds) }
    }
    return Reply(status: status, body: text.bytes, reason: reason, detail: detail)
  }
}

/// A push that Apple takes.
struct ApnsPush: Sendable {
  let token: String
  let headers: ApnsHeaders
  let payload: ApnsPayload
}

/// Random UUIDs in the form of version 4.
enum Uuid {
  static func random() -> String {
    var bytes = SecureRandom.bytes(16)
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    var text = ""
    for (place, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(place) { text += "-" }
      if byte < 16 { text += "0" }
      text += String(byte, radix: 16)
    }
    return text
  }
}
