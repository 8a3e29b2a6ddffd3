import Foundation
import Json
import Testing

/// Rulings 1.1, 1.4 to 1.10: bodies, held to the cases that other implementations of the contract are held to as well.
@Suite struct BodyTests {
  private struct Case: Sendable {
    let path: String
    let body: [UInt8]
    let isValid: Bool
  }

  private static func cases(_ file: String, _ body: (JsonValue) -> [UInt8]?) throws -> [Case] {
    let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../ContractTests/\(file)")
    let values = try #require(try JsonReader.read([UInt8](try Data(contentsOf: path))).array)
    return try values.map { value in
      Case(
        path: try #require(value["path"]?.string), body: try #require(body(value)),
        isValid: try #require(value["valid"]?.bool as Bool?))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A body is taken or refused as the shared case says`(on kind: StoreKind) async throws {
    let cases =
      try Self.cases("requests.json") { $0["body"].map(JsonText.render) }
      + Self.cases("raw-bodies.json") { $0["raw"]?.string.map { Array($0.utf8) } }
    #expect(cases.count == 98)
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      for (number, one) in cases.enumerated() {
        let reply = try await gateway.ask(Ask(method: "POST", path: one.path, bearer: token, body: one.body))
        // Nobody has the challenge of the case, which is to be found out after its schema is right.
        let right = one.path == "/v1/host/session" ? "401 invalid_challenge" : "200"
        #expect(reply.verdict == (one.isValid ? right : "400 invalid_request"), "case \(number)")
        if one.isValid { continue }
        #expect(reply.members.allSatisfy { ["error", "detail"].contains($0) })
        #expect(!reply.text.contains("AQAAAA"))
      }
    }
  }

  @Test func `Every route refuses what is not JSON, with a reason`() async throws {
    let bodies: [[UInt8]] = [
      [], Array("{".utf8), Array("[]".utf8), Array("{\"v\":1,}".utf8), Array("{} {}".utf8), [0xff, 0xfe],
      Array("{\"v\":\"".utf8) + [0xc3, 0x28] + Array("\"}".utf8), Array(repeating: UInt8(ascii: "["), count: 10_000),
    ]
    try await StoreKind.sqlite.use { gateway in
      let token = try await gateway.bearer()
      for path in ["/v1/host/challenge", "/v1/host/session", "/v1/devices", "/v1/send"] {
        for body in bodies {
          let reply = try await gateway.ask(Ask(method: "POST", path: path, bearer: token, body: body))
          #expect(reply.verdict == "400 invalid_request")
          #expect(reply.json?["detail"]?.string?.isEmpty == false)
        }
      }
    }
  }

  private static func padded(to count: Int) -> String {
    let text = String(decoding: JsonText.render(Body.challenge()), as: UTF8.self)
    return text + String(repeating: " ", count: count - text.utf8.count)
  }

  @Test(arguments: [false, true])
  func `A body of 16,384 bytes is taken and one more byte is too large`(inChunks: Bool) async throws {
    try await StoreKind.sqlite.use { gateway in
      for (count, verdict) in [(16_384, "200"), (16_385, "413 request_too_large"), (40_000, "413 request_too_large")] {
        let ask = Ask.post("/v1/host/challenge", Self.padded(to: count)).with(isChunked: inChunks)
        let reply = try await gateway.ask(ask)
        #expect(reply.verdict == verdict)
      }
    }
  }

  @Test func `A body that is declared too large is refused before it is sent`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let reply = try await blocking {
        let wire = try Wire(port: gateway.port)
        try wire.send(
          "POST /v1/host/session HTTP/1.1\r\nhost: g\r\nx-forwarded-for: 9.9.9.9\r\ncontent-length: 9000000\r\n\r\n")
        return try wire.reply()
      }
      #expect(reply.verdict == "413 request_too_large")
    }
  }

  @Test func `Detail names the member and not its value`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let token = try await gateway.bearer()
      let body = Body.device("d", token: "not-a-token-5eCr3t")
      let reply = try await gateway.ask(.post("/v1/devices", body, bearer: token))
      #expect(reply.members == ["error", "detail"])
      #expect(reply.json?["detail"]?.string?.hasPrefix("token ") == true)
      #expect(!reply.text.contains("5eCr3t"))
    }
  }

  @Test func `What a request is about comes into no log`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let token = try await gateway.bearer()
      let phone = try await gateway.phone(token)
      _ = try await gateway.send(token, [phone], Body.notification(1, title: "Unsayable"))
      _ = try await gateway.ask(.get("/v1/devices/\(token)"))
      gateway.process.terminate()
      _ = try await gateway.process.ended()
      for secret in [token, phone, "Unsayable", "aabb"] { #expect(!gateway.process.said.contains(secret)) }
    }
  }
}
