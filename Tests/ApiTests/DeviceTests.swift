import Json
import Testing

/// Contract, "Device registration"; rulings 3.
@Suite struct DeviceTests {
  @Test(arguments: StoreKind.allCases)
  func `Phones are listed oldest first, in exactly the contract's words`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      #expect(try await gateway.ask(.get("/v1/devices", bearer: token)).text == #"{"devices":[]}"#)
      let first = try await gateway.ask(.post("/v1/devices", Body.device("zeta"), bearer: token))
      #expect(first.members == ["registrationId"])
      let zeta = try #require(first.json?["registrationId"]?.string)
      let android = JsonValue.object([
        "v": .integer(1), "deviceId": .string("alpha"), "platform": .string("android"),
        "token": .string(String(repeating: "t", count: 40)),
      ])
      let second = try await gateway.ask(.post("/v1/devices", android, bearer: token))
      let alpha = try #require(second.json?["registrationId"]?.string)
      try await gateway.place.script("update push_devices set dead_at = 1 where device_id = 'alpha'")
      let list = try await gateway.ask(.get("/v1/devices", bearer: token))
      let expected =
        #"{"devices":[{"registrationId":"\#(zeta)","deviceId":"zeta","platform":"ios","dead":false},"#
        + #"{"registrationId":"\#(alpha)","deviceId":"alpha","platform":"android","dead":true}]}"#
      #expect(list.text == expected)
      #expect(try await gateway.ask(.post("/v1/devices", android, bearer: token)).text == second.text)
      let revived = try await gateway.ask(.get("/v1/devices", bearer: token))
      #expect(revived.text == expected.replacing("true", with: "false"))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Only the owner forgets a phone, once`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let owner = try await gateway.bearer()
      let other = try await gateway.bearer()
      let id = try await gateway.phone(owner)
      func forget(_ id: String, _ bearer: String?) async throws -> Reply {
        try await gateway.ask(Ask(method: "DELETE", path: "/v1/devices/\(id)", bearer: bearer))
      }
      #expect(try await forget(id, nil).verdict == "401 invalid_token")
      #expect(try await forget(id, other).verdict == "404 not_found")
      #expect(try await forget("unknown", owner).verdict == "404 not_found")
      #expect(try await forget(String(repeating: "x", count: 5_000), owner).verdict == "404 not_found")
      let reply = try await forget(id, owner)
      #expect(reply.status == 204)
      #expect(reply.body.isEmpty)
      #expect(try await forget(id, owner).verdict == "404 not_found")
      #expect(try await gateway.ask(.get("/v1/devices", bearer: owner)).text == #"{"devices":[]}"#)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A host has 64 phones, however many processes it asks at once`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let other = try await gateway.another()
      let token = try await gateway.bearer()
      let replies = try await Gateway.ask(
        (0..<80).map {
          ($0.isMultiple(of: 2) ? gateway : other, .post("/v1/devices", Body.device("d\($0)"), bearer: token))
        })
      #expect(replies.filter { $0.status == 200 }.count == 64)
      #expect(replies.filter { $0.verdict == "409 too_many_devices" }.count == 16)
      // Those that it has are refreshed as ever, and one that goes makes room.
      let first = try #require(replies.indices.first { replies[$0].status == 200 })
      let again = try await other.ask(.post("/v1/devices", Body.device("d\(first)", token: "ccdd"), bearer: token))
      #expect(again.text == replies[first].text)
      let id = try #require(again.json?["registrationId"]?.string)
      #expect(try await gateway.ask(Ask(method: "DELETE", path: "/v1/devices/\(id)", bearer: token)).status == 204)
      #expect(try await other.ask(.post("/v1/devices", Body.device("new"), bearer: token)).status == 200)
      #expect(try await other.ask(.post("/v1/devices", Body.device("newer"), bearer: token)).status == 409)
    }
  }
}
