import Foundation
import Http
import Json
import Keys
import Loop
import Support

/// A sender to Google, on connections of its own.
@LoopActor
final class GoogleClient {
  struct Answer: Sendable {
    var status: Int
    var json: JsonValue?
    var headers: HeaderBlock

    /// Google's word for the code.
    var word: String? { json?["error"]?["status"]?.string }
    var errorCode: String? { detail("google.firebase.fcm.v1.FcmError")?["errorCode"]?.string }
    var field: String? { detail("google.rpc.BadRequest")?["fieldViolations"]?.array?.first?["field"]?.string }

    private func detail(_ type: String) -> JsonValue? {
      json?["error"]?["details"]?.array?.first { $0["@type"] == .string("type.googleapis.com/\(type)") }
    }
  }

  private let sandbox: SandboxProcess
  private let pool: Http2Pool
  private let origin: Http.Origin
  var path: String
  /// The field's value; empty leaves it out.
  var authorization = ""

  /// Takes an access token from the metadata server.
  init(_ sandbox: SandboxProcess) async throws {
    self.sandbox = sandbox
    guard let url = Url(sandbox.setting("ORCA_PUSH_FCM_URL")) else { throw SandboxProcess.Failure("no FCM") }
    origin = url.origin
    pool = Http2Pool(origin: url.origin, tls: sandbox.trust, resolver: .literal)
    path = "/v1/projects/\(sandbox.setting("ORCA_PUSH_FCM_PROJECT_ID"))/messages:send"
    let answer = try await Self.metadata(sandbox)
    authorization = "Bearer " + (answer["access_token"]?.string ?? "")
  }

  func close() { pool.close() }

  func send(_ body: String, method: String = "POST", deadline: Int = 10_000) async throws -> Answer {
    var head = HeaderBlock(method: method, origin: origin, path: path)
    if !authorization.isEmpty { head.add("authorization", authorization, indexed: false) }
    head.add("content-type", "application/json")
    let response = try await pool.send(Http2ClientRequest(head: head, body: Array(body.utf8), deadline: deadline))
    return Answer(status: response.status, json: try? JsonReader.read(response.body), headers: response.headers)
  }

  static func metadata(_ sandbox: SandboxProcess) async throws -> JsonValue {
    let path = "/computeMetadata/v1/instance/service-accounts/default/token"
    guard let url = Url("http://\(sandbox.setting("GCE_METADATA_HOST"))\(path)") else {
      throw SandboxProcess.Failure("no metadata server")
    }
    let reply = try await Http1Client.send("GET", url, headers: ["metadata-flavor": "Google"], resolver: .literal)
    return try JsonReader.read(reply.body)
  }
}
