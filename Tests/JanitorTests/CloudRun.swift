import Http
import Json
import Loop
import Operations

/// Stands in for Cloud Run's Admin API with one worker pool, and for the metadata server that gives out tokens.
@LoopActor
final class CloudRun {
  static let pool = "projects/p/locations/us-central1/workerPools/w"
  private static let token = "ya29.scaler"

  var instances: Int?
  var etag = "\"1\""
  var updateTime = "2026-11-30T10:00:00.5Z"
  /// Somebody else changes the pool after each look at it.
  var isContested = false
  /// Answered to everything instead.
  var refusal: (status: Int, word: String)?
  private(set) var changes: [JsonValue] = []
  private var server: HttpServer?
  private(set) var port = 0

  init(instances: Int?) throws {
    self.instances = instances
    let server = HttpServer { [unowned self] request, _ in self.answer(request) }
    port = try server.listen(address: "127.0.0.1", port: 0)
    self.server = server
  }

  func stop() { server?.stop() }

  var environment: [String: String] {
    [
      "ORCA_PUSH_SCALE_POOL": Self.pool, "ORCA_PUSH_SCALE_MIN": "2", "ORCA_PUSH_SCALE_MAX": "6",
      "ORCA_PUSH_SCALE_DEPTH_EACH": "100", "ORCA_PUSH_CLOUD_RUN_URL": "http://127.0.0.1:\(port)",
      "GCE_METADATA_HOST": "127.0.0.1:\(port)",
    ]
  }

  private func answer(_ request: HttpRequest) -> HttpResponse {
    if request.path == "/computeMetadata/v1/instance/service-accounts/default/token" {
      return HttpResponse(
        status: 200, headers: ["metadata-flavor": "Google"],
        body: Array(#"{"access_token":"\#(Self.token)","expires_in":3599,"token_type":"Bearer"}"#.utf8))
    }
    guard request.headers["authorization"] == "Bearer \(Self.token)" else { return error(401, "UNAUTHENTICATED") }
    if let refusal { return error(refusal.status, refusal.word) }
    guard request.path == "/v2/" + Self.pool else { return error(404, "NOT_FOUND") }
    return request.method == "GET" ? show() : change(request)
  }

  private func show() -> HttpResponse {
    var text = JsonText(reserving: 256)
    text.object { text in
      text.member("name", Self.pool)
      text.member("etag", etag)
      text.member("updateTime", updateTime)
      text.object("scaling") { text in if let instances { text.member("manualInstanceCount", instances) } }
    }
    if isContested { etag = "\"2\"" }
    return HttpResponse(status: 200, headers: [:], body: text.bytes)
  }

  private func change(_ request: HttpRequest) -> HttpResponse {
    guard request.method == "PATCH", request.query == "updateMask=scaling.manualInstanceCount",
      let body = try? JsonReader.read(request.body), let count = body["scaling"]?["manualInstanceCount"]?.integer
    else { return error(400, "INVALID_ARGUMENT") }
    guard body["etag"]?.string == etag else { return error(409, "ABORTED") }
    changes.append(body)
    instances = Int(count)
    return HttpResponse(status: 200, headers: [:], body: Array(#"{"name":"operations/1","done":false}"#.utf8))
  }

  private func error(_ status: Int, _ word: String) -> HttpResponse {
    HttpResponse(
      status: status, headers: [:],
      body: Array(#"{"error":{"code":\#(status),"message":"about \#(Self.pool)","status":"\#(word)"}}"#.utf8))
  }
}
