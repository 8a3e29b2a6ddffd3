internal import Http
internal import Json
internal import Loop
internal import Tls

/// Asking a server for an access token, and reading its answer.
@LoopActor
enum AccessTokenExchange {
  static func send(
    _ method: String, _ url: String, headers: HttpHeaders, body: [UInt8] = [], tls: TlsClientContext?,
    deadline: Int, who: String
  ) async throws(AccessTokenFailure) -> HttpResponse {
    guard let url = Url(url) else { throw AccessTokenFailure("\(who)'s address is no URL") }
    do throws(Http1Failure) {
      return try await Http1Client.send(method, url, headers: headers, body: body, tls: tls, deadline: deadline)
    } catch {
      switch error {
      case .connect(let fault): throw AccessTokenFailure("\(who) cannot be reached (\(fault))")
      case .timedOut: throw AccessTokenFailure("\(who) does not answer in time")
      case .connectionLost: throw AccessTokenFailure("\(who) broke the connection")
      case .unreadable, .unwritable: throw AccessTokenFailure("\(who) gave no answer that can be read")
      }
    }
  }

  /// The token of a good answer. Nothing of the answer's own text but an OAuth error code is repeated: it may hold secrets.
  static func token(_ response: HttpResponse, who: String) throws(AccessTokenFailure) -> AccessToken {
    let body = try? JsonReader.read(response.body)
    guard response.status == 200 else {
      let code = body?["error"]?.string.map { " \(ReplyTable.bounded($0))" } ?? ""
      let skew = ClockSkew(theirs: response.headers["date"].flatMap(HttpDate.parse), ours: WallClock.milliseconds)
      let clock = skew.map { $0.isLarge ? "; \($0)" : "" } ?? ""
      throw AccessTokenFailure("\(who) answers \(response.status)\(code)\(clock)")
    }
    guard let text = body?["access_token"]?.string, !text.isEmpty, text.utf8.count <= 8_192,
      text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), let lifetime = body?["expires_in"]?.integer, lifetime > 0
    else { throw AccessTokenFailure("\(who)'s answer holds no token that can be used") }
    return AccessToken(text: text, lifetime: Double(min(lifetime, 86_400)))
  }
}
