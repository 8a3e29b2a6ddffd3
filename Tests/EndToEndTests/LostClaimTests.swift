import Foundation
import Json
import Support
import Testing

/// A database connection that breaks between a claim and its answer.
@Suite(.timeLimit(.minutes(2))) struct LostClaimTests {
  private static let iphone = String(repeating: "10c0ffee", count: 8)

  @Test("A phone's alerts keep their order when a claim's answer is lost, and none waits for the lost lease")
  func order() async throws {
    try await ScratchDatabase.use { database in
      let url = try #require(URL(string: database.text))
      let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "cutting_proxy.py").path
      let proxy = try Program(
        "proxy", running: ["python3", script, url.host() ?? "127.0.0.1", String(url.port ?? 5432)])
      var failure: (any Error)?
      do {
        let port = try #require(Int(try await proxy.line()))
        var through = try #require(URLComponents(string: database.text))
        through.host = "127.0.0.1"
        through.port = port
        let cut = try #require(through.string)
        try await Gateway.run(on: database, worker: { settings, _ in settings["ORCA_PUSH_DATABASE_URL"] = cut }) {
          gateway in
          try await PythonHost.run(on: gateway) { host in try await sendAcross(proxy, gateway, host) }
        }
      } catch {
        failure = error
      }
      await proxy.stop()
      if let failure { throw failure }
    }
  }

  private func sendAcross(_ proxy: Program, _ gateway: Gateway, _ host: PythonHost) async throws {
    let phone = #"{"v":1,"deviceId":"a","platform":"ios","token":"\#(Self.iphone)","apnsEnvironment":"production"}"#
    let id = try #require(try await host.post("/v1/devices", try JsonReader.read(Array(phone.utf8)))["registrationId"])
    try await proxy.write([])
    #expect(try await proxy.line() == "armed")
    try await send(host, id, 1)
    #expect(try await proxy.line() == "cut")
    for seq in Int64(2)...5 { try await send(host, id, seq) }
    let requests = try await gateway.requests("apns", count: 5)
    #expect(requests.map { $0["body"]?["orca"]?["notificationSeq"]?.integer } == [1, 2, 3, 4, 5])
  }

  private func send(_ host: PythonHost, _ id: JsonValue, _ seq: Int64) async throws {
    let notification: JsonObject = [
      "notificationSeq": .integer(seq), "notificationEpoch": .string("e"), "source": .string("plugin"),
      "agentState": .null, "title": .string("t"), "body": .string("b"),
    ]
    _ = try await host.post(
      "/v1/send",
      .object(["v": .integer(1), "registrationIds": .array([id]), "notification": .object(notification)]))
  }
}
