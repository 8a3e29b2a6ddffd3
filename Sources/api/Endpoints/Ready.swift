internal import Contract
internal import Http
internal import Json
internal import Loop
internal import Operations

/// `GET /ready`: whether requests can be served, and if not, what is missing.
@LoopActor
struct ReadyEndpoint {
  /// How long the database may take to answer, in ms.
  static let patience = 2_000

  let callers: Callers
  let database: Database
  let mode: GatewayMode

  func get(_ request: HttpRequest) async throws(Problem) -> HttpResponse {
    try callers.admitUnproven(request)
    return await reply()
  }

  /// The answer itself, which the operators' port gives too.
  func reply() async -> HttpResponse {
    switch await database.check(milliseconds: Self.patience) {
    case nil:
      return .json {
        $0.member("ok", true)
        $0.member("mode", mode.rawValue)
        $0.member("database", database.name)
      }
    case .unreachable: return notReady("database", "the database does not answer")
    case .unwritable(let why): return notReady("database", why)
    case .schema(let why): return notReady("schema", why)
    case .folder(let why): return notReady("database", why)
    }
  }

  private func notReady(_ part: String, _ detail: String) -> HttpResponse {
    .json(503, headers: ["retry-after": "1"]) {
      $0.member("ok", false)
      $0.member("error", ErrorCode.busy.rawValue)
      $0.member("failing", part)
      $0.member("detail", detail)
    }
  }
}
