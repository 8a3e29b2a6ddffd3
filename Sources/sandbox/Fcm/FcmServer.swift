internal import Http
internal import Json
internal import Keys
internal import Loop

/// Google's push server, with the token endpoint beside it.
@LoopActor
final class FcmServer {
  private let world: World
  /// The sandbox's own token endpoint, known once the port is.
  var tokenUri = ""
  private var server: PushServer?
  private var messages = 0

  init(_ world: World) {
    self.world = world
    server = PushServer(
      .fcm, world,
      judge: { [unowned self] in self.judge($0, $1, $2) }, scripted: { [unowned self] in self.scripted($0) })
  }

  /// Where assertions are posted to.
  nonisolated static let tokenPath = "/token"

  func answer(_ request: HttpRequest, _ exchange: HttpExchange) async -> HttpResponse? {
    if request.path == Self.tokenPath { return await answerExchange(request, exchange) }
    return await server?.answer(request, exchange, token: "")
  }

  // MARK: Messages

  private func judge(_ request: HttpRequest, _ connection: Connection, _ record: RequestRecord) -> Judgement {
    guard let project = Self.project(request.path) else { return Judgement(reply: Self.notFound) }
    guard request.method == "POST" else { return Judgement(reply: Self.notFound) }
    do throws(FcmFault) {
      let now = WallClock.milliseconds + world.book.fcm.clockOffset * 1_000
      guard world.accessTokens.accepts(authorization: request.headers["authorization"], now: now) else {
        throw .unauthenticated
      }
      guard project == world.projectId else { throw .wrongProject }
      if request.bodyTooLarge { throw .tooBig }
      let message = try FcmMessage(request.body)
      record.token = message.target
      return accepted(message, project)
    } catch {
      return Judgement(reply: Self.refusal(error))
    }
  }

  private func accepted(_ message: FcmMessage, _ project: String) -> Judgement {
    messages += 1
    let id = message.isValidation ? "fake_message_id" : "0:\(WallClock.milliseconds)%\(messages)"
    let body = JsonText.render(.object(["name": .string("projects/\(project)/messages/\(id)")]))
    return Judgement(reply: Reply(status: 200, headers: Self.json, body: body)) { [tray = world.tray] in
      if !message.isValidation { tray.receive(message) }
    }
  }

  private func scripted(_ step: Step) -> Reply {
    var reply: Reply
    if step.body == nil, let fault = step.reason.flatMap(FcmFault.init(reason:)) {
      reply = Self.refusal(fault)
      reply.status = step.status ?? fault.code
    } else {
      reply = Reply(status: step.status ?? 200, body: step.body ?? [], reason: step.reason)
      if step.headers["content-type"] == nil, (try? JsonReader.read(reply.body)) != nil { reply.headers = Self.json }
    }
    for (name, value) in step.headers.fields { reply.headers.add(name, value) }
    return reply
  }

  /// The project of `/v1/projects/<id>/messages:send`; nil for another path.
  private static func project(_ path: String) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0].isEmpty, parts[1] == "v1", parts[2] == "projects", !parts[3].isEmpty,
      parts[4] == "messages:send" || parts[4].lowercased() == "messages%3asend"
    else { return nil }
    return String(parts[3])
  }

  private static let json: HttpHeaders = ["content-type": "application/json; charset=UTF-8"]

  /// Google answers what no service takes with a page.
  private static let notFound = Reply(
    status: 404, headers: ["content-type": "text/html; charset=UTF-8"],
    body: Array("<!DOCTYPE html><title>Error 404 (Not Found)!!1</title><p>The requested URL was not found.".utf8),
    reason: "page", detail: "the path must be /v1/projects/<project>/messages:send and the method POST")

  private static func refusal(_ fault: FcmFault) -> Reply {
    Reply(status: fault.code, headers: json, body: fault.body, reason: fault.reason, detail: fault.message)
  }

  // MARK: Access tokens

  private func answerExchange(_ request: HttpRequest, _ exchange: HttpExchange) async -> HttpResponse? {
    let record = world.log.arrive(.oauth, request, exchange, token: "")
    var reply = exchangeReply(request)
    if let step = world.next(.oauth, token: "") {
      if step.delay > 0 { try? await EventLoop.shared.sleep(milliseconds: step.delay) }
      switch step.action {
      case .reply, .goawayAfter, .settings: break
      case .hang:
        world.log.settle(record, Outcome(ending: .cut(.hang), isDelivered: false))
        await exchange.hang()
        return nil
      default:
        world.log.settle(record, Outcome(ending: .cut(step.action), isDelivered: false))
        exchange.closeConnection()
        return nil
      }
      if let status = step.status {
        reply = Reply(status: status, headers: step.headers, body: step.body ?? [], reason: step.reason)
      }
    }
    world.log.settle(record, Outcome(ending: .answered(reply), isDelivered: false))
    return reply.response
  }

  private func exchangeReply(_ request: HttpRequest) -> Reply {
    guard request.method == "POST" else { return Self.notFound }
    do throws(ExchangeFault) {
      let exchange = TokenExchange(
        clientEmail: Identities.clientEmail, keys: world.serviceKeys,
        audiences: [Identities.googleAudience, tokenUri])
      try exchange.check(form: request.body, at: WallClock.milliseconds)
    } catch {
      return Reply(status: 400, headers: Self.json, body: error.body, reason: error.error, detail: error.description)
    }
    return Reply(status: 200, headers: Self.json, body: world.accessTokenAnswer())
  }
}

extension World {
  /// A new access token as Google hands it out.
  func accessTokenAnswer() -> [UInt8] {
    let token = accessTokens.issue(now: WallClock.milliseconds)
    return JsonText.render(
      .object([
        "access_token": .string(token), "expires_in": .integer(accessTokens.life), "token_type": .string("Bearer"),
      ]))
  }
}
