import Contract
import Http
import Json
import Keys
import Loop
import Support
import Testing

@testable import Providers

/// A server of access tokens, on plain HTTP, that says what the test tells it to.
@LoopActor
private final class TokenServer {
  private let server: HttpServer
  let origin: Contract.Origin

  init(_ answer: @escaping @LoopActor (_ number: Int) -> HttpResponse) throws {
    let received = Received()
    var limits = HttpServerLimits()
    // No test here is one of the server's patience.
    (limits.firstByte, limits.head, limits.idle) = (600_000, 600_000, 600_000)
    server = HttpServer(limits: limits) { request, _ in
      received.requests.append(request)
      return answer(received.requests.count)
    }
    origin = Contract.Origin(scheme: .http, host: "127.0.0.1", port: try server.listen(address: "127.0.0.1", port: 0))
    self.received = received
  }

  @LoopActor
  private final class Received { var requests: [HttpRequest] = [] }
  private let received: Received

  var all: [HttpRequest] { received.requests }

  func stop() { server.stop() }

  static func token(_ text: String, lifetime: Int, isMetadata: Bool = true) -> HttpResponse {
    HttpResponse(
      status: 200, headers: isMetadata ? ["metadata-flavor": "Google"] : [:],
      body: Array(#"{"access_token":"\#(text)","expires_in":\#(lifetime),"token_type":"Bearer"}"#.utf8))
  }
}

@Suite("Sources of access tokens")
@LoopActor
struct AccessTokenSourceTests {
  // Takes a large part of a second.
  private nonisolated static let key = try? Rs256Key.generate()

  private func failure(_ source: any AccessTokenSource) async -> String {
    do throws(AccessTokenFailure) {
      let token = try await source.fetch()
      return "a token of \(token.lifetime) s"
    } catch { return error.description }
  }

  @Test("The metadata server is asked as Google documents it")
  func metadata() async throws {
    let server = try TokenServer { _ in TokenServer.token("ya29.a", lifetime: 1_799) }
    defer { server.stop() }
    let token = try await MetadataServerTokens(origin: server.origin, deadline: 600_000).fetch()
    #expect(token == AccessToken(text: "ya29.a", lifetime: 1_799))
    let request = try #require(server.all.first)
    #expect(request.method == "GET")
    #expect(request.path == "/computeMetadata/v1/instance/service-accounts/default/token")
    #expect(request.headers["metadata-flavor"] == "Google")
    #expect(request.headers["host"] == server.origin.authority)
  }

  @Test("What does not say that it is a metadata server is not believed")
  func flavour() async throws {
    let server = try TokenServer { _ in TokenServer.token("ya29.a", lifetime: 1_799, isMetadata: false) }
    defer { server.stop() }
    let why = await failure(MetadataServerTokens(origin: server.origin, deadline: 600_000))
    #expect(why == "what answers at \(server.origin.authority) is no metadata server")
  }

  @Test("A service account exchanges an assertion that its key signs")
  func serviceAccount() async throws {
    let key = try #require(await offTheLoop { Self.key })
    let server = try TokenServer { _ in TokenServer.token("ya29.b", lifetime: 3_599, isMetadata: false) }
    defer { server.stop() }
    let uri = server.origin.text + "/token?x=1"
    let source = ServiceAccountTokens(
      email: "push@p.test", keyId: "kid-1", key: key, tokenUri: uri, tls: nil, deadline: 600_000)
    #expect(try await source.fetch() == AccessToken(text: "ya29.b", lifetime: 3_599))

    let request = try #require(server.all.first)
    #expect(request.method == "POST")
    #expect(request.path == "/token")
    #expect(request.query == "x=1")
    #expect(request.headers["content-type"] == "application/x-www-form-urlencoded")
    let form = String(decoding: request.body, as: UTF8.self)
    let lead = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
    #expect(form.hasPrefix(lead))
    let assertion = try #require(WebToken.parse(String(form.dropFirst(lead.count))))
    #expect(assertion.isSigned(by: Rs256Verifier(key)))
    #expect(assertion.header["kid"]?.string == "kid-1")
    #expect(assertion.claims["iss"]?.string == "push@p.test")
    #expect(assertion.claims["aud"]?.string == uri)
    #expect(assertion.claims["scope"]?.string == "https://www.googleapis.com/auth/firebase.messaging")
    let issued = try #require(assertion.claims["iat"]?.integer)
    #expect(assertion.claims["exp"]?.integer == issued + 3_600)
    #expect(abs(issued - WallClock.milliseconds / 1_000) < 60)
  }

  @Test("A refusal names OAuth's code and nothing else; what is no token is none")
  func refusals() async throws {
    let bodies = [
      (
        400, #"{"error":"invalid_grant","error_description":"secret"}"#, "the metadata server answers 400 invalid_grant"
      ),
      (500, "<html>secret", "the metadata server answers 500"),
      (200, "<html>", "the metadata server's answer holds no token that can be used"),
      (200, #"{"access_token":"","expires_in":9}"#, "the metadata server's answer holds no token that can be used"),
      (200, #"{"access_token":"a b","expires_in":9}"#, "the metadata server's answer holds no token that can be used"),
      (200, #"{"access_token":"a","expires_in":0}"#, "the metadata server's answer holds no token that can be used"),
      (200, #"{"access_token":"a"}"#, "the metadata server's answer holds no token that can be used"),
    ]
    let server = try TokenServer { number in
      let (status, body, _) = bodies[number - 1]
      return HttpResponse(status: status, headers: ["metadata-flavor": "Google"], body: Array(body.utf8))
    }
    defer { server.stop() }
    let source = MetadataServerTokens(origin: server.origin, deadline: 600_000)
    for (_, _, why) in bodies {
      let told = await failure(source)
      #expect(told == why)
    }
  }

  @Test("A server that is not there is named, not waited for")
  func unreachable() async throws {
    let server = try TokenServer { _ in HttpResponse(status: 200) }
    let origin = server.origin
    server.stop()
    let why = await failure(MetadataServerTokens(origin: origin))
    #expect(why.hasPrefix("the metadata server cannot be reached (tcp: "))
  }

  @Test("Lives of 20 s: a thousand sends at every second see no token past its end, and one fetch a life")
  func shortLives() async throws {
    let time = StandingClock()
    let server = try TokenServer { number in TokenServer.token("T\(number)", lifetime: 20) }
    defer { server.stop() }
    let tokens = AccessTokens(MetadataServerTokens(origin: server.origin, deadline: 600_000), now: time.clock.now)
    for second in 0..<60 {
      let sends = (0..<1_000).map { _ in Task { try await tokens.current() } }
      var seen: Set<String> = []
      for send in sends { seen.insert(try await send.value) }
      #expect(seen.count == 1)
      let number = try #require(seen.first.flatMap { Int($0.dropFirst()) })
      // Token n was asked for at (n - 1) lives of 15 s.
      #expect(second - (number - 1) * 15 < 20)
      while tokens.isFetching { await Task.yield() }
      time.pass(1)
    }
    #expect(server.all.count == 4)
  }
}
