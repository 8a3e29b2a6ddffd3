internal import Contract
internal import Http
internal import Json
internal import Keys
internal import Loop
internal import Operations
internal import Stores

/// Who is calling, and may they? The checks in their order (rulings 1.11); drain has been looked at before.
@LoopActor
final class Callers {
  private let sessions: SessionCache
  private let trustedHops: Int
  /// By client address: challenge, session and /ready together.
  private var unproven = BucketTable<String?>(perMinute: 30)
  /// By client address: bearers that were no good.
  private var badBearers = BucketTable<String?>(perMinute: 30)
  private var hosts = BucketTable<Int64>(perMinute: 600)

  init(sessions: SessionCache, trustedHops: Int) {
    self.sessions = sessions
    self.trustedHops = trustedHops
  }

  /// Lets a caller in that has proven nothing yet.
  func admitUnproven(_ request: HttpRequest) throws(Problem) {
    try pass(unproven.take(address(of: request), now: .now))
  }

  /// The host whose session the request's bearer is.
  func host(of request: HttpRequest) async throws(Problem) -> Host {
    let address = address(of: request)
    try pass(badBearers.check(address, now: .now))
    let standing = try await standing(of: Bearer.token(in: request.headers.all("authorization")))
    guard case .active(let host, _) = standing else {
      _ = badBearers.take(address, now: .now)
      throw standing == .expired ? .sessionExpired : .invalidToken
    }
    try pass(hosts.take(host.number, now: .now))
    return host
  }

  private func standing(of token: String?) async throws(Problem) -> SessionStanding {
    guard let token else { return .unknown }
    return try await sessions.standing(of: token)
  }

  private func pass<Key>(_ answer: BucketTable<Key>.Answer) throws(Problem) {
    if case .wait(let seconds) = answer { throw .rateLimited(seconds: seconds) }
  }

  private func address(of request: HttpRequest) -> String? {
    ClientAddress.resolve(
      forwardedFor: request.headers.all("x-forwarded-for"), realIp: request.headers["x-real-ip"],
      trustedHops: trustedHops)
  }
}

/// What a host shows after it has proven itself: 32 random bytes.
enum SessionToken {
  static func make() -> String { Base64Url.encode(SecureRandom.bytes(Bearer.length)) }

  /// What the store knows it by.
  static func digest(_ token: String) -> [UInt8] { Sha256.digest(token) }
}

extension HttpRequest {
  /// Refuses a body that went over the limit, which comes after the caller's own checks.
  func checkSize() throws(Problem) {
    if bodyTooLarge { throw .requestTooLarge }
  }

  /// The body, read as one of the contract's requests.
  func read<R>(_ type: (JsonValue) throws(InvalidRequest) -> R) throws(Problem) -> R {
    try checkSize()
    let value: JsonValue
    do { value = try JsonReader.read(body) } catch { throw .invalidRequest("the body is not JSON: \(error)") }
    do { return try type(value) } catch { throw .invalidRequest(error.detail) }
  }
}
