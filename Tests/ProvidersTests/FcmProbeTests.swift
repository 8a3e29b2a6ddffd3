import Contract
import Http
import Loop
import Testing

@testable import Providers

@Suite("The probe of FCM: a push that is checked and not delivered")
@LoopActor
struct FcmProbeTests {
  private struct Tokens: AccessTokenSource {
    var failure: AccessTokenFailure?
    func fetch() async throws(AccessTokenFailure) -> AccessToken {
      if let failure { throw failure }
      return AccessToken(text: "t", lifetime: 3_599)
    }
  }

  private func verdict(
    _ connections: ScriptedConnections, tokens: Tokens = Tokens()
  ) async -> FcmProbe.Verdict {
    let origin = Http.Origin(Contract.Origin(scheme: .https, host: "fcm.test", port: 443))
    return await FcmProbe(origin: origin, project: "p", tokens: tokens, pool: connections, pause: 0).run()
  }

  private nonisolated static func fault(_ status: String, _ code: String?, field: String? = nil) -> String {
    let detail = code.map {
      #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}"#
    }
    let violation = field.map {
      #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#($0)"}]}"#
    }
    let details = [detail, violation].compactMap(\.self).joined(separator: ",")
    return #"{"error":{"code":0,"message":"m","status":"\#(status)","details":[\#(details)]}}"#
  }

  @Test("What Google accepts, or refuses for its token alone, shows that sending works")
  func passes() async {
    #expect(
      await verdict(ScriptedConnections(.answer(200, #"{"name":"projects/p/messages/fake"}"#))) == .passed("accepted"))
    let named = Self.fault("INVALID_ARGUMENT", "INVALID_ARGUMENT", field: "message.token")
    #expect(await verdict(ScriptedConnections(.answer(400, named))) == .passed("INVALID_ARGUMENT"))
    #expect(
      await verdict(ScriptedConnections(.answer(404, Self.fault("NOT_FOUND", "UNREGISTERED"))))
        == .passed("UNREGISTERED"))
  }

  @Test(
    "Everything else fails at once",
    arguments: [
      (400, fault("INVALID_ARGUMENT", "INVALID_ARGUMENT", field: "message.data"), "INVALID_ARGUMENT"),
      (401, fault("UNAUTHENTICATED", nil), "UNAUTHENTICATED"),
      (403, fault("PERMISSION_DENIED", nil), "PERMISSION_DENIED"),
      (403, fault("PERMISSION_DENIED", "SENDER_ID_MISMATCH"), "SENDER_ID_MISMATCH"), (404, "<html>", "HTTP 404"),
    ])
  func fails(status: Int, body: String, reason: String) async {
    let connections = ScriptedConnections(.answer(status, body), .answer(200, "{}"))
    #expect(await verdict(connections) == .failed(reason))
    #expect(connections.bearers == ["Bearer t"])
    #expect(connections.isDrained)
  }

  @Test("What may pass by itself is tried three times")
  func retries() async {
    let away = ScriptedConnections.Step.answer(503, Self.fault("UNAVAILABLE", "UNAVAILABLE"))
    #expect(await verdict(ScriptedConnections(away, away, .answer(200, "{}"))) == .passed("accepted"))
    let never = ScriptedConnections(away, away, away, .answer(200, "{}"))
    #expect(await verdict(never) == .failed("UNAVAILABLE"))
    #expect(never.bearers.count == 3)
  }

  @Test("Without an access token nothing is asked")
  func noToken() async {
    let connections = ScriptedConnections()
    let tokens = Tokens(failure: AccessTokenFailure("the metadata server does not answer in time"))
    #expect(
      await verdict(connections, tokens: tokens)
        == .failed("credential_unavailable: the metadata server does not answer in time"))
    #expect(connections.bearers.isEmpty)
  }
}
