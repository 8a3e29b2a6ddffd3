import Http
import Json
import Keys
import Loop
import Support

/// A sender to one of Apple's servers, on a connection of its own.
@LoopActor
final class AppleClient {
  struct Answer: Sendable {
    var status: Int
    var reason: String?
    var body: String
    var headers: HeaderBlock
  }

  private let pool: Http2Pool
  private let origin: Http.Origin
  let key: Es256Key
  /// The bearer of pushes that bring none.
  var credential: String

  init(_ sandbox: SandboxProcess, _ variable: String = "ORCA_PUSH_APNS_SANDBOX_URL") throws {
    guard let url = Url(sandbox.setting(variable)) else {
      throw SandboxProcess.Failure("no \(variable)")
    }
    origin = url.origin
    key = try Es256Key(pem: sandbox.setting("ORCA_PUSH_APNS_KEY"))
    credential = "bearer " + (try Self.token(key))
    var limits = Http2PoolLimits()
    limits.connections = 1
    let notices = Notices()
    pool = Http2Pool(origin: url.origin, tls: sandbox.trust, limits: limits, resolver: .literal) { event in
      if case .goneAway(let notice) = event { notices.reasons.append(notice.reason) }
    }
    self.notices = notices
  }

  private let notices: Notices
  /// What the GOAWAYs so far said.
  var goAwayReasons: [String] { notices.reasons }

  func close() { pool.close() }

  func send(_ push: ApplePush) async throws -> Answer {
    var head = HeaderBlock(method: push.method, origin: origin, path: push.path)
    let authorization = push.authorization ?? credential
    if !authorization.isEmpty { head.add("authorization", authorization, indexed: false) }
    for (name, value) in push.fields { head.add(name, value) }
    let response = try await pool.send(
      Http2ClientRequest(head: head, body: Array(push.body.utf8), deadline: push.deadline))
    return Answer(
      status: response.status, reason: (try? JsonReader.read(response.body))?["reason"]?.string,
      body: String(decoding: response.body, as: UTF8.self), headers: response.headers)
  }

  /// A provider token that is right unless told otherwise; `age` in seconds.
  nonisolated static func token(
    _ key: Es256Key, keyId: String = "SANDBOXKEY", teamId: String = "ORCASANDBX", age: Int64 = 0
  ) throws -> String {
    try WebToken.es256(
      keyId: keyId, teamId: teamId, issuedAt: WallClock.milliseconds / 1_000 - age, key: key)
  }
}

@LoopActor
private final class Notices {
  var reasons: [String] = []
}
