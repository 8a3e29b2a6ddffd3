internal import Http
internal import Json
internal import Loop

/// The plain door for people and tests: the page, the log, the script.
@LoopActor
final class ControlDoor {
  private let world: World

  init(_ world: World) { self.world = world }

  func answer(_ request: HttpRequest) async -> HttpResponse {
    if request.bodyTooLarge { return Self.fault(413, "the script is too large") }
    let query = Form.fields(request.query ?? "")
    switch (request.method, request.path) {
    case ("GET", "/"): return Self.asset(TrayPage.html, "text/html; charset=utf-8")
    case ("GET", "/tray.css"): return Self.asset(TrayPage.style, "text/css; charset=utf-8")
    case ("GET", "/tray.js"): return Self.asset(TrayPage.script, "text/javascript; charset=utf-8")
    case ("GET", "/tray"): return Self.json(world.tray.text)
    case ("DELETE", "/tray"):
      world.tray.clear()
      return Self.done
    case ("GET", "/requests"):
      let limit = min(Self.number(query["limit"]) ?? 1_000, RequestLog.limit)
      let since = Self.number(query["since"]) ?? 0
      return Self.json(world.log.text(since: since, limit: limit, token: query["token"]))
    case ("GET", "/requests/wait"): return await wait(query)
    case ("DELETE", "/requests"):
      world.log.reset()
      return Self.done
    case ("GET", "/summary"): return Self.json(summary)
    case ("POST", "/script"): return follow(request.body)
    case ("DELETE", "/script"):
      world.forgetScripts()
      return Self.done
    case ("GET", "/health"): return Self.done
    default: return Self.fault(404, "no such door: see /")
    }
  }

  private func wait(_ query: [String: String]) async -> HttpResponse {
    let milliseconds = Self.number(query["timeoutMs"]) ?? 10_000
    if let arrived = Self.number(query["arrived"]) {
      let reached = await world.log.wait(milliseconds: milliseconds) { $0.arrived >= arrived }
      return Self.answer(reached, world.log.tally.arrived)
    }
    guard let count = Self.number(query["count"]) else { return Self.fault(400, "count must be a number") }
    let filter = Tally.Filter(
      provider: query["provider"].flatMap(Provider.init(rawValue:)),
      environment: query["environment"].flatMap(ApnsEnvironment.init(rawValue:)),
      status: query["status"].flatMap { Int($0) }, reason: query["reason"])
    let reached = await world.log.wait(milliseconds: milliseconds) { $0.count(filter) >= count }
    return Self.answer(reached, world.log.tally.count(filter))
  }

  private static func answer(_ reached: Bool, _ count: Int) -> HttpResponse {
    json(JsonText.render(.object(["reached": .bool(reached), "count": .integer(Int64(count))])))
  }

  private func follow(_ body: [UInt8]) -> HttpResponse {
    do throws(ScriptFault) {
      try world.follow(try Script(body))
      return Self.done
    } catch {
      return Self.fault(400, error.detail)
    }
  }

  private var summary: [UInt8] {
    var text = JsonText(reserving: 4_096)
    text.object { text in
      world.log.tally.write(&text)
      text.member("accessTokensIssued", world.accessTokens.issued)
      text.array("connections") { world.connections.write(&$0) }
    }
    return text.bytes
  }

  // MARK: Replies

  private static func number(_ text: String?) -> Int? {
    guard let text, let number = Int(text), number >= 0 else { return nil }
    return number
  }

  private static let done = HttpResponse(status: 200, body: Array(#"{"ok":true,"developmentOnly":true}"#.utf8))

  private static func json(_ bytes: [UInt8]) -> HttpResponse { HttpResponse(status: 200, body: bytes) }

  private static func fault(_ status: Int, _ detail: String) -> HttpResponse {
    HttpResponse(status: status, body: JsonText.render(.object(["error": .string(detail)])))
  }

  private static func asset(_ text: String, _ type: String) -> HttpResponse {
    HttpResponse(
      status: 200,
      headers: [
        "content-type": type, "x-content-type-options": "nosniff",
        "content-security-policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      ],
      body: Array(text.utf8))
  }
}
