internal import Http
internal import Json
internal import Loop

/// The metadata server of a machine on Google Cloud, as far as access tokens go.
@LoopActor
final class MetadataServer {
  private let world: World
  private let email: String

  init(_ world: World, email: String) {
    self.world = world
    self.email = email
  }

  func answer(_ request: HttpRequest, _ exchange: HttpExchange) async -> HttpResponse? {
    let record = world.log.arrive(.metadata, request, exchange, token: "")
    var reply = self.reply(request)
    if let step = world.next(.metadata, token: "") {
      if step.delay > 0 { try? await EventLoop.shared.sleep(milliseconds: step.delay) }
      if step.action != .reply {
        world.log.settle(record, Outcome(ending: .cut(step.action), isDelivered: false))
        if step.action == .hang { await exchange.hang() } else { exchange.closeConnection() }
        return nil
      }
      if let status = step.status {
        reply = Reply(status: status, headers: step.headers, body: step.body ?? [], reason: step.reason)
      }
    }
    world.log.settle(record, Outcome(ending: .answered(reply), isDelivered: false))
    return reply.response
  }

  private func reply(_ request: HttpRequest) -> Reply {
    guard request.method == "GET" else { return Reply(status: 405, reason: "method") }
    guard request.headers["metadata-flavor"] == "Google" else {
      return Reply(status: 403, reason: "flavor", detail: "Metadata-Flavor: Google is missing")
    }
    // What a proxy passes on may come from anywhere.
    guard request.headers["x-forwarded-for"] == nil else { return Reply(status: 403, reason: "forwarded") }
    let account = "/computeMetadata/v1/instance/service-accounts/default/"
    switch request.path {
    case account + "token":
      return Reply(
        status: 200, headers: ["metadata-flavor": "Google", "content-type": "application/json"],
        body: world.accessTokenAnswer())
    case account:
      let json = JsonText.render(
        .object(["aliases": .array([.string("default")]), "email": .string(email), "scopes": .array([])]))
      return Reply(status: 200, headers: ["metadata-flavor": "Google", "content-type": "application/json"], body: json)
    case account + "email": return text(email)
    case "/computeMetadata/v1/project/project-id": return text(world.projectId)
    case "/": return text("computeMetadata/")
    default: return Reply(status: 404, headers: ["metadata-flavor": "Google"], reason: "path")
    }
  }

  private func text(_ text: String) -> Reply {
    Reply(
      status: 200, headers: ["metadata-flavor": "Google", "content-type": "application/text"], body: Array(text.utf8))
  }
}
