import Foundation
import Json
import Proof
import Testing

/// Rulings 2.3 and 2.4.
@Suite struct SessionTests {
  private func status(_ gateway: Gateway, _ token: String) async throws -> String {
    try await gateway.ask(.get("/v1/devices", bearer: token)).verdict
  }

  @Test(arguments: StoreKind.allCases)
  func `A newer session ends the earlier one, at once where it was made`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let keys = HostKeyPair.generate()
      let first = try await gateway.bearer(keys)
      #expect(try await status(gateway, first) == "200")
      let second = try await gateway.bearer(keys)
      #expect(try await status(gateway, first) == "401 invalid_token")
      #expect(try await status(gateway, second) == "200")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A newer session ends the earlier one at every other process`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let other = try await gateway.another()
      let keys = HostKeyPair.generate()
      let first = try await gateway.bearer(keys)
      #expect(try await status(gateway, first) == "200")
      let second = try await other.bearer(keys)
      #expect(try await status(other, first) == "401 invalid_token")
      // Within 5 s, which SessionCacheTests hold to by a clock of their own. A host may ask 600 times a minute.
      for _ in 0..<500 where try await status(gateway, first) == "200" {
        try await Task.sleep(for: .milliseconds(100))
      }
      #expect(try await status(gateway, first) == "401 invalid_token")
      #expect(try await status(gateway, second) == "200")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A session past its end is said to be expired`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      try await gateway.place.script("update push_sessions set expires_at = 1000")
      #expect(try await status(gateway, token) == "401 session_expired")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A bearer is one token of ours behind the word Bearer in any case`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      func verdict(_ authorization: String?) async throws -> String {
        var ask = Ask.get("/v1/devices")
        if let authorization { ask.headers["authorization"] = authorization }
        return try await gateway.ask(ask).verdict
      }
      for good in ["Bearer \(token)", "bearer \(token)", "BEARER  \(token)"] {
        #expect(try await verdict(good) == "200")
      }
      let bad = [
        nil, "", "Bearer", "Bearer ", token, "Basic \(token)", "Bearer \(token) \(token)", "Bearer \(token)=",
        "Bearer \(token.dropLast())", "Bearer \(token)A", "Bearer,\(token)", "Bearer %00",
        "Bearer \(token.lowercased())",
      ]
      for text in bad { #expect(try await verdict(text) == "401 invalid_token", "\(text ?? "none")") }
      var twice = Ask.get("/v1/devices", bearer: token)
      twice.headers["authorization"] = "Bearer \(token)"
      #expect(try await gateway.ask(twice).verdict == "401 invalid_token")
    }
  }
}
