import Foundation
import Json
import Testing

/// What providers do to connections, under the real worker.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ConnectionTests {
  private static let iphone = String(repeating: "00112233445566ff", count: 4)

  @Test("Connections that are retired all the time cost no push, and the log holds the provider's reason")
  func goAways() async throws {
    try await Gateway.run(.sqlite) { gateway in
      try await gateway.script(
        #"{"apns":{"goawayEvery":5,"goawayReason":"Shutdown","goawayKeepsOpen":true},"fcm":{"goawayEvery":5}}"#)
      try await PythonHost.run(on: gateway) { host in
        var traffic = Traffic(host, try await Traffic.register(host, ios: Self.iphone))
        try await traffic.send(40)
        try await traffic.expectAll("apns", gateway)
        let line = try await gateway.worker.logged("the provider closes a connection")
        #expect(line["reason"] == .string(#"{"reason":"Shutdown"}"#) && line["code"] == .integer(0))
        let requests = try await gateway.log("apns")
        #expect(requests.count == 40 && Set(requests.map { $0["connection"]?.integer }).count >= 7)
      }
    }
  }

  @Test("A clock that is off is named in the log, and everything goes out once it is right")
  func clockSkew() async throws {
    try await Gateway.run(.sqlite) { gateway in
      try await gateway.script(#"{"apns":{"clockOffsetSeconds":7200}}"#)
      try await PythonHost.run(on: gateway) { host in
        var traffic = Traffic(host, try await Traffic.register(host, ios: Self.iphone))
        try await traffic.send(3)
        let parked = try await gateway.worker.logged("lane parked")
        #expect(parked["reason"]?.string?.hasPrefix("ExpiredProviderToken: clock skew: the provider's clock") == true)
        try await gateway.script(#"{"apns":{"clockOffsetSeconds":0}}"#)
        _ = try await gateway.worker.logged("lane open again")
        try await traffic.expectAll("apns", gateway)
      }
    }
  }
}
